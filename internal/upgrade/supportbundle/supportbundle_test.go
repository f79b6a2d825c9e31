package supportbundle_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/redact"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

func TestLimitsBeyondTheirBoundsAreRejected(t *testing.T) {
	valid := supportbundle.DefaultLimits()
	if err := valid.Validate(); err != nil {
		t.Errorf("the default: %v", err)
	}
	for want, change := range map[string]func(*supportbundle.Limits){
		"the total size must be":         func(l *supportbundle.Limits) { l.Total = 1<<10 - 1 },
		"4096 MiB":                       func(l *supportbundle.Limits) { l.Total = 4<<30 + 1 },
		"the size per host":              func(l *supportbundle.Limits) { l.Host = supportbundle.MaxHostBytes + 1 },
		"the size per log":               func(l *supportbundle.Limits) { l.Log = -1 },
		"the timeout must be":            func(l *supportbundle.Limits) { l.Timeout = time.Hour + 1 },
		"the timeout of a host must be":  func(l *supportbundle.Limits) { l.HostTimeout = 0 },
		"the number of hosts must be":    func(l *supportbundle.Limits) { l.Hosts = -1 },
		"hosts must be between 0 and 20": func(l *supportbundle.Limits) { l.Hosts = 201 },
	} {
		l := valid
		change(&l)
		if err := l.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", l, err, want)
		}
	}
}

func names(hosts []supportbundle.Host) (out []string) {
	for _, h := range hosts {
		out = append(out, h.Node)
	}
	return out
}

func TestTheHostsThatExplainAFailureComeFirst(t *testing.T) {
	u := &refitv1alpha1.ClusterUpgrade{}
	u.Status.Active = []string{"w-5"}
	u.Status.Failures = []refitv1alpha1.Failure{{Node: "w-9"}}
	all := []supportbundle.Host{{Node: "w-1"}, {Node: "w-2", Changed: true}, {Node: "cp-2", ControlPlane: true}, {Node: "cp-1", ControlPlane: true}, {Node: "w-5"}, {Node: "w-9"}}
	before := slices.Clone(all)
	selected, left := supportbundle.SelectHosts(all, u, nil, 4)
	if got := names(selected); !slices.Equal(got, []string{"w-9", "w-5", "cp-1", "cp-2"}) {
		t.Errorf("selected %q", got)
	}
	if got := names(left); !slices.Equal(got, []string{"w-2", "w-1"}) {
		t.Errorf("left %q", got)
	}
	if !slices.Equal(all, before) {
		t.Errorf("the hosts were reordered: %q", names(all))
	}
	if selected, left := supportbundle.SelectHosts(all, u, []string{"w-1", "cp-1", "w-2"}, 1); len(selected) != 3 || len(left) != 0 {
		t.Errorf("by name: %q, %q", names(selected), names(left))
	}
	if selected, left := supportbundle.SelectHosts(all, nil, nil, 0); len(selected) != 0 || len(left) != 6 {
		t.Errorf("no host: %q, %q", names(selected), names(left))
	}
	if got := supportbundle.Unknown(all, []string{"w-1", "w-7"}); !slices.Equal(got, []string{"w-7"}) {
		t.Errorf("unknown: %q", got)
	}
}

// Names come from the cluster, and those of parts from hosts: none may leave the directory.
func TestNoNameLeavesTheDirectoryOfTheBundle(t *testing.T) {
	for _, name := range []string{"..", "../../etc/passwd", "/etc/shadow", "a/../../b", `..\..\c`, ".hidden", "", "a\x00b", "a\nb", strings.Repeat("n", 4000)} {
		for _, path := range []string{
			supportbundle.ObjectsPath(name, name), supportbundle.ObjectsPath(name, ""), supportbundle.EventsPath(name), supportbundle.LogPath(name, name, name, false),
			supportbundle.LogPath(name, name, name, true), supportbundle.HostPath(name, "status.json"), supportbundle.JournalPath(name), supportbundle.Root(name, time.Time{}),
		} {
			for part := range strings.SplitSeq(path, "/") {
				if part == "" || part[0] == '.' || strings.ContainsAny(part, "\\\x00\n") || len(part) > 250 {
					t.Errorf("%.30q: %.80q", name, path)
				}
			}
		}
		if supportbundle.IsHostPart(name) || supportbundle.IsHostPart("journal/"+name) {
			t.Errorf("a host may have a part %.30q", name)
		}
	}
	for _, name := range []string{"status.json", "journal/kubelet.log", "agent/journal.jsonl"} {
		if !supportbundle.IsHostPart(name) {
			t.Errorf("a host may not have a part %q", name)
		}
	}
	if supportbundle.LogPath("n", "p", "c", true) == supportbundle.LogPath("n", "p", "c", false) {
		t.Error("the log before a restart replaces the other")
	}
}

func TestABundleHasTheTimeOfItsOperation(t *testing.T) {
	now := time.Date(2026, 10, 1, 12, 0, 0, 0, time.FixedZone("", 7200))
	u := &refitv1alpha1.ClusterUpgrade{}
	u.CreationTimestamp = metav1.NewTime(now.Add(-5 * time.Hour))
	ended := u.DeepCopy()
	ended.Status.Phase = refitv1alpha1.PhaseSucceeded
	ended.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(-3 * time.Hour))}}
	for situation, c := range map[string]struct {
		u            *refitv1alpha1.ClusterUpgrade
		period       time.Duration
		since, until time.Duration // before now
	}{
		"no operation":             {nil, 0, 24 * time.Hour, 0},
		"in progress":              {u, 0, 5*time.Hour + 10*time.Minute, 0},
		"ended":                    {ended, 0, 5*time.Hour + 10*time.Minute, 2*time.Hour + 50*time.Minute},
		"a period of a past one":   {ended, time.Hour, time.Hour, 0},
		"a period without any one": {nil, time.Minute, time.Minute, 0},
	} {
		got := supportbundle.WindowOf(c.u, c.period, now)
		if !got.Since.Equal(now.Add(-c.since)) || !got.Until.Equal(now.Add(-c.until)) || got.Since.Location() != time.UTC {
			t.Errorf("%s: %s to %s", situation, got.Since, got.Until)
		}
	}
}

// The values of a Component are removed before the rules see them: a chart names its secrets as it
// likes, and no rule would find them.
func TestAnObjectHasNoSecrets(t *testing.T) {
	object := map[string]any{
		"kind": "Component", "metadata": map[string]any{
			"name": "c", "managedFields": []any{map[string]any{"manager": "canary-manager"}},
			"annotations": map[string]any{"note": "password: canary-annotation"},
		},
		"spec": map[string]any{"chart": "kueue", "values": map[string]any{"harmless": "canary-value"}},
	}
	got, counts := supportbundle.Object(redact.New(), object)
	text := flat(got)
	if strings.Contains(text, "canary") || !strings.Contains(text, "kueue") || counts["component-values"] != 1 {
		t.Errorf("%s %v", text, counts)
	}
	if text := flat(object); !strings.Contains(text, "canary-manager") || !strings.Contains(text, "canary-value") {
		t.Errorf("the object itself was changed: %s", text)
	}
	other := map[string]any{"kind": "NodeUpgrade", "spec": map[string]any{"values": "kept"}}
	if got, counts := supportbundle.Object(redact.New(), other); !strings.Contains(flat(got), "kept") || counts["component-values"] != 0 {
		t.Errorf("another kind: %v %v", got, counts)
	}
}

// flat is all that an object has, as text.
func flat(value any) string {
	var out strings.Builder
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			out.WriteString(name + ":" + flat(field) + " ")
		}
	case []any:
		for _, item := range v {
			out.WriteString(flat(item) + " ")
		}
	case string:
		out.WriteString(v)
	}
	return out.String()
}

func TestAnIndexCountsTheRedactionsOfAllParts(t *testing.T) {
	rule := redact.Descriptions()[0].Name
	index := &cliv1alpha1.SupportBundle{Parts: []cliv1alpha1.BundlePart{{Redactions: map[string]int64{rule: 2}}, {Redactions: map[string]int64{rule: 3}}, {}}}
	supportbundle.Finish(index)
	if index.Redactions[rule] != 5 || len(index.Redactions) != len(redact.Descriptions()) {
		t.Errorf("%v", index.Redactions)
	}
}

func TestABundleOfFailuresIsEmpty(t *testing.T) {
	failed := cliv1alpha1.BundlePart{Source: "nodes", Path: "objects/nodes.yaml", Error: &supportbundle.Fail(supportbundle.ReasonForbidden, "no %s.", "permission").BundleError}
	index := &cliv1alpha1.SupportBundle{Parts: []cliv1alpha1.BundlePart{failed, failed, failed}}
	err := supportbundle.CheckNotEmpty(index)
	if !errors.Is(err, supportbundle.ErrEmpty) || strings.Count(err.Error(), "nodes: no permission. Use a kubeconfig") != 2 {
		t.Errorf("%v", err)
	}
	index.Parts = append(index.Parts, cliv1alpha1.BundlePart{Path: "objects/leases.yaml"})
	if err := supportbundle.CheckNotEmpty(index); err != nil {
		t.Errorf("with an empty list that was read: %v", err)
	}
	down := &cliv1alpha1.SupportBundle{APIUnreachable: &supportbundle.Fail(supportbundle.ReasonAPIUnreachable, "connection refused").BundleError}
	if err := supportbundle.CheckNotEmpty(down); !errors.Is(err, supportbundle.ErrEmpty) || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("the API server is down: %v", err)
	}
}

func TestEachReasonHasAClassAndARemedy(t *testing.T) {
	for reason, class := range map[string]refitv1alpha1.FailureClass{
		supportbundle.ReasonForbidden: refitv1alpha1.FailureManualIntervention, supportbundle.ReasonNodeUnreachable: refitv1alpha1.FailureManualIntervention,
		supportbundle.ReasonHostLimit: refitv1alpha1.FailureManualIntervention, supportbundle.ReasonSizeLimit: refitv1alpha1.FailureManualIntervention,
		supportbundle.ReasonTimeout: refitv1alpha1.FailureTransient, supportbundle.ReasonReadFailed: refitv1alpha1.FailureTransient,
		supportbundle.ReasonPodNotStarted: refitv1alpha1.FailureTransient, supportbundle.ReasonTransferIncomplete: refitv1alpha1.FailureTransient,
	} {
		if f := supportbundle.Fail(reason, "%s", strings.Repeat("x", 1<<20)); f.Class != string(class) || f.Remedy == "" || utf8.RuneCountInString(f.Message) > refitv1alpha1.MaxMessage {
			t.Errorf("%s: %s %q, %d bytes", reason, f.Class, f.Remedy, len(f.Message))
		}
	}
}
