package trace

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	uid   = "7c1f3a52-6a51-4b4f-9d2e-0c6d3e1f8a90"
	older = "v1.36.3"
	newer = "v1.37.1"
)

var creation = time.Date(2026, 3, 2, 3, 0, 0, 0, time.UTC)

// at is a time after the creation of the operation.
func at(minutes, seconds int) *metav1.Time {
	t := metav1.NewTime(creation.Add(time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second))
	return &t
}

func release(version string) refitv1alpha1.ReleaseRef {
	return refitv1alpha1.ReleaseRef{Name: version, Digest: "sha256:" + strings.Repeat("a", 64)}
}

// operation has a hop for each version. The workers follow once, to the last one.
func operation(versions ...string) *refitv1alpha1.ClusterUpgrade {
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "to-" + versions[len(versions)-1], UID: uid, CreationTimestamp: *at(0, 0)}}
	p := &refitv1alpha1.PlanSummary{Hash: "sha256:plan", From: "v1.35.4", To: versions[len(versions)-1]}
	for i, version := range versions {
		p.Hops = append(p.Hops, refitv1alpha1.Hop{Kubernetes: version, Release: release(version)})
		for _, name := range []refitv1alpha1.StageName{
			refitv1alpha1.StagePrefetch, refitv1alpha1.StageBackup, refitv1alpha1.StageRehearsal, refitv1alpha1.StageControlPlane,
		} {
			p.Stages = append(p.Stages, refitv1alpha1.StageSummary{Name: name, Kubernetes: version, Total: 1})
		}
		if i == len(versions)-1 {
			p.Stages = append(p.Stages, refitv1alpha1.StageSummary{Name: refitv1alpha1.StageWorkers, Kubernetes: version, Total: 2})
		}
	}
	p.Stages = append(p.Stages, refitv1alpha1.StageSummary{Name: refitv1alpha1.StageVerify})
	u.Status.Plan, u.Status.Phase = p, refitv1alpha1.PhaseRunning
	u.Status.Nodes = refitv1alpha1.NodeCounts{Total: 3}
	return u
}

// ran sets that each of the first stages took ten minutes.
func ran(u *refitv1alpha1.ClusterUpgrade, stages int) *refitv1alpha1.ClusterUpgrade {
	for i := range stages {
		s := &u.Status.Plan.Stages[i]
		s.StartTime, s.CompletionTime, s.Done = at(i*10, 0), at(i*10+10, 0), s.Total
	}
	if stages < len(u.Status.Plan.Stages) {
		u.Status.Plan.Stages[stages].StartTime = at(stages*10, 0)
	}
	return u
}

// ends sets how the operation ended.
func ends(u *refitv1alpha1.ClusterUpgrade, phase refitv1alpha1.Phase, minute int) *refitv1alpha1.ClusterUpgrade {
	ready := metav1.Condition{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: string(phase), LastTransitionTime: *at(minute, 0)}
	if phase == refitv1alpha1.PhaseAborted {
		ready.Status, ready.LastTransitionTime = metav1.ConditionFalse, *at(0, 0)
	}
	u.Status.Conditions = []metav1.Condition{ready, {Type: refitv1alpha1.ConditionReconciling, Status: metav1.ConditionFalse, LastTransitionTime: *at(minute, 0)}}
	u.Status.Phase = phase
	return u
}

// upgrade is the order of a node, and the progress of its agent.
func upgrade(name string, role refitv1alpha1.Role, permit refitv1alpha1.Permit, phase refitv1alpha1.NodePhase, steps ...refitv1alpha1.StepStatus) *refitv1alpha1.NodeUpgrade {
	n := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Spec = refitv1alpha1.NodeUpgradeSpec{
		Operation: refitv1alpha1.Operation{Name: "to-" + older, UID: uid}, Sequence: 7, Role: role, Release: release(older), Permit: permit, OrderTime: at(39, 59),
	}
	n.Status = refitv1alpha1.NodeUpgradeStatus{ObservedSequence: 7, Phase: phase, AgentVersion: "v0.1.0", Steps: steps, StartTime: at(40, 0)}
	return n
}

func step(name string, state refitv1alpha1.StepState, start, end *metav1.Time) refitv1alpha1.StepStatus {
	return refitv1alpha1.StepStatus{Name: name, State: state, StartTime: start, CompletionTime: end}
}

func done(name string, start, end *metav1.Time) refitv1alpha1.StepStatus {
	return step(name, refitv1alpha1.StepDone, start, end)
}

func fetched() []refitv1alpha1.StepStatus {
	return []refitv1alpha1.StepStatus{done("fetch", at(0, 10), at(1, 0)), done("import-images", at(1, 0), at(2, 30))}
}

// kubelet is the error of a kubelet that does not start.
func kubelet(minute, second int) *refitv1alpha1.NodeError {
	return &refitv1alpha1.NodeError{
		Class: refitv1alpha1.FailureManualIntervention, Reason: "KubeletUnhealthy", Step: "swap-kubelet", At: *at(minute, second),
		Message: "SECRET message", Remedy: "SECRET remedy", LogTail: "SECRET log",
	}
}

type worldOf struct {
	operation *refitv1alpha1.ClusterUpgrade
	nodes     []*refitv1alpha1.NodeUpgrade
	backups   []*refitv1alpha1.EtcdBackup
}

func (w *worldOf) spans() []Span {
	out := Operation(w.operation)
	for _, n := range w.nodes {
		out = append(out, Node(w.operation, n, false)...)
	}
	for _, b := range w.backups {
		out = append(out, Backup(w.operation, b)...)
	}
	return out
}

// tree draws spans below their parents. A parent that is not among them has not ended.
func tree(spans []Span) string {
	var out strings.Builder
	known := map[SpanID]bool{}
	for i := range spans {
		known[spans[i].ID] = true
	}
	slices.SortStableFunc(spans, func(a, b Span) int { return cmp.Or(a.Start.Compare(b.Start), b.End.Compare(a.End)) })
	var draw func(parent func(*Span) bool, depth int)
	draw = func(under func(*Span) bool, depth int) {
		for i := range spans {
			s := &spans[i]
			if !under(s) {
				continue
			}
			fmt.Fprintf(&out, "%s  %6s  %s%s: %s", s.Start.Format("15:04:05"), s.End.Sub(s.Start), strings.Repeat("  ", depth), s.Kind, s.Name)
			for _, a := range s.Attributes {
				if a.Key == AttributePhase || a.Key == AttributeAttempt || strings.HasPrefix(a.Key, "refit.failure.") || a.Key == AttributeNodesDone {
					fmt.Fprintf(&out, " %s=%s", strings.TrimPrefix(a.Key, "refit."), cmp.Or(a.Text, fmt.Sprint(a.Number)))
				}
			}
			if s.Failed {
				fmt.Fprintf(&out, " FAILED %s", s.Reason)
			}
			out.WriteString("\n")
			draw(func(child *Span) bool { return child.Parent == s.ID }, depth+1)
		}
	}
	draw(func(s *Span) bool { return s.Parent == SpanID{} }, 0)
	draw(func(s *Span) bool { return s.Parent != SpanID{} && !known[s.Parent] }, 1)
	return out.String()
}

func TestStories(t *testing.T) {
	for name, w := range stories() {
		t.Run(name, func(t *testing.T) {
			spans := w.spans()
			got := tree(spans)
			path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".golden")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil || got != string(want) {
				t.Errorf("run with -update if this is right (%v):\n%s", err, got)
			}
			if n := strings.Count(got, "\n"); n != len(spans) {
				t.Errorf("%d of %d spans are in the tree", n, len(spans))
			}
			expectSound(t, spans)
		})
	}
}

// expectSound checks what holds for all spans.
func expectSound(t *testing.T, spans []Span) {
	t.Helper()
	ids := map[SpanID]string{}
	for i := range spans {
		s := &spans[i]
		if other, twice := ids[s.ID]; twice {
			t.Errorf("%q and %q have one ID", s.Name, other)
		}
		ids[s.ID] = s.Name
		if s.Trace != traceOf(uid) || s.ID == (SpanID{}) || s.Parent == s.ID || (s.Kind == KindOperation) != (s.Parent == SpanID{}) {
			t.Errorf("%+v", s)
		}
		if s.Start.IsZero() || s.End.Before(s.Start) {
			t.Errorf("%s from %s to %s", s.Name, s.Start, s.End)
		}
		if text := fmt.Sprintf("%+v", s); strings.Contains(text, "SECRET") {
			t.Errorf("a message of the cluster: %s", text)
		}
	}
}

// A controller that starts later exports the same spans as its predecessor.
func TestSpansAreTheSameForEveryController(t *testing.T) {
	for name := range stories() {
		first, second := stories()[name], stories()[name]
		if a, b := fmt.Sprintf("%+v", first.spans()), fmt.Sprintf("%+v", second.spans()); a != b {
			t.Errorf("%s:\n%s\n%s", name, a, b)
		}
	}
}

// What was exported when a node ended is what is exported when the operation ends.
func TestSpansOfANodeStayAsTheyWereWhenTheOperationEnds(t *testing.T) {
	for name, w := range stories() {
		before := map[SpanID]string{}
		running := *w.operation.DeepCopy()
		running.Status.Conditions, running.Status.Phase = nil, refitv1alpha1.PhaseRunning
		for _, n := range w.nodes {
			for _, s := range Node(&running, n, false) {
				before[s.ID] = fmt.Sprintf("%+v", s)
			}
		}
		ended := ends(w.operation, refitv1alpha1.PhaseSucceeded, 100)
		for _, n := range w.nodes {
			for _, s := range Node(ended, n, false) {
				if was, known := before[s.ID]; known && was != fmt.Sprintf("%+v", s) {
					t.Errorf("%s:\n%s\n%+v", name, was, s)
				}
			}
		}
	}
}

func TestTheSameNodeInAnotherOperationHasOtherSpans(t *testing.T) {
	w := stories()["an upgrade that succeeded"]
	first := w.spans()
	other := types.UID("00000000-0000-0000-0000-000000000000")
	w.operation.UID = other
	for _, n := range w.nodes {
		n.Spec.Operation.UID = other
	}
	for _, b := range w.backups {
		b.Labels[refitv1alpha1.LabelOperation] = string(other)
	}
	second := w.spans()
	if len(first) != len(second) {
		t.Fatalf("%d and %d spans", len(first), len(second))
	}
	for i := range first {
		if first[i].ID == second[i].ID || first[i].Trace == second[i].Trace {
			t.Errorf("%s has the same ID", first[i].Name)
		}
	}
}

func TestSpansThatDoNotExist(t *testing.T) {
	finished := func() *refitv1alpha1.NodeUpgrade {
		n := upgrade("worker-1", refitv1alpha1.RoleWorker, refitv1alpha1.PermitApply, refitv1alpha1.NodeSucceeded, append(fetched(), done("verify-node", at(40, 0), at(41, 0)))...)
		n.Status.CompletionTime = at(41, 0)
		return n
	}
	for situation, c := range map[string]struct {
		change func(*refitv1alpha1.ClusterUpgrade, *refitv1alpha1.NodeUpgrade)
		want   int
	}{
		"as it is": {func(*refitv1alpha1.ClusterUpgrade, *refitv1alpha1.NodeUpgrade) {}, 5},
		"an order of another operation": {func(_ *refitv1alpha1.ClusterUpgrade, n *refitv1alpha1.NodeUpgrade) {
			n.Spec.Operation.UID = "other"
		}, 0},
		"an operation without a plan": {func(u *refitv1alpha1.ClusterUpgrade, _ *refitv1alpha1.NodeUpgrade) { u.Status.Plan = nil }, 0},
		"a node that is not released": {func(u *refitv1alpha1.ClusterUpgrade, n *refitv1alpha1.NodeUpgrade) {
			u.Status.Active = []string{n.Name}
		}, 3},
		"an agent that has not answered the order": {func(_ *refitv1alpha1.ClusterUpgrade, n *refitv1alpha1.NodeUpgrade) {
			n.Spec.Sequence++
		}, 0},
		"a prefetch of an earlier operation": {func(u *refitv1alpha1.ClusterUpgrade, _ *refitv1alpha1.NodeUpgrade) {
			u.CreationTimestamp = *at(30, 0)
		}, 2},
		"a prefetch that runs": {func(_ *refitv1alpha1.ClusterUpgrade, n *refitv1alpha1.NodeUpgrade) {
			n.Spec.Permit, n.Status.Phase, n.Status.Steps = refitv1alpha1.PermitPrefetch, refitv1alpha1.NodePrefetching, n.Status.Steps[:1]
		}, 0},
		"a drain of an earlier hop": {func(_ *refitv1alpha1.ClusterUpgrade, n *refitv1alpha1.NodeUpgrade) {
			n.Status.Drain = &refitv1alpha1.DrainStatus{Sequence: 3, Phase: refitv1alpha1.DrainDrained, StartTime: at(0, 2), CompletionTime: at(0, 8)}
		}, 5},
	} {
		u, n := ran(operation(older), 4), finished()
		c.change(u, n)
		if got := Node(u, n, false); len(got) != c.want {
			t.Errorf("%s: %d spans, want %d:\n%s", situation, len(got), c.want, tree(got))
		}
	}
}

// The controller orders the next hop when it releases the last node of a hop.
// An agent may have to verify what it has prefetched again, as after a change of its order.
func TestFilesThatAreVerifiedAgainBelongToTheUpgrade(t *testing.T) {
	w := stories()["an upgrade that succeeded"]
	n := w.nodes[0]
	n.Status.Steps[0].StartTime, n.Status.Steps[0].CompletionTime = at(30, 39), at(30, 39)
	n.Status.Steps[1].StartTime, n.Status.Steps[1].CompletionTime = at(30, 39), at(30, 40)
	var names []string
	for _, s := range Node(w.operation, n, false) {
		names = append(names, s.Name)
	}
	if got := strings.Join(names[:4], ", "); got != "upgrade cp-1, drain, fetch, import-images" {
		t.Errorf("%v", names)
	}
}

func TestAnOrderThatIsReplacedHasEnded(t *testing.T) {
	u := ran(operation(older), 3)
	u.Status.Active = []string{"cp-1"}
	n := upgrade("cp-1", refitv1alpha1.RoleControlPlane, refitv1alpha1.PermitApply, refitv1alpha1.NodeSucceeded, done("verify-node", at(40, 0), at(41, 0)))
	n.Status.CompletionTime = at(41, 0)
	if got := Node(u, n, false); len(got) != 0 {
		t.Errorf("before it is released:\n%s", tree(got))
	}
	if got := Node(u, n, true); len(got) != 2 {
		t.Errorf("after it is replaced:\n%s", tree(got))
	}
}

// A retry continues at the step that failed: the steps before it belong to the first attempt.
func TestARetryHasOnlyItsOwnSteps(t *testing.T) {
	w := stories()["a node that failed"]
	first := w.nodes[0].DeepCopy()
	again := stories()["a node that was retried"].nodes[0]
	ids := map[SpanID]bool{}
	for _, s := range Node(w.operation, first, false) {
		ids[s.ID] = true
	}
	prefetch := 3
	for _, s := range Node(w.operation, again, false) {
		if ids[s.ID] {
			prefetch--
		}
	}
	if prefetch != 0 {
		t.Errorf("the attempts share %d spans, want the 3 of the prefetch", 3-prefetch)
	}
}
