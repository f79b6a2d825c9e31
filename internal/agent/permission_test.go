package agent

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/journal"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// operationStub is an API that has one ClusterUpgrade, or is unreachable.
type operationStub struct {
	apiStub
	operation   refitv1alpha1.ClusterUpgrade
	unreachable bool
	failing     map[string]bool // kinds that cannot be read
	reads       int
}

func (s *operationStub) Operation(context.Context, string) (*refitv1alpha1.ClusterUpgrade, error) {
	s.reads++
	if s.unreachable {
		return nil, errors.New("connection refused")
	}
	return s.operation.DeepCopy(), nil
}

func (s *operationStub) Node(ctx context.Context) (*corev1.Node, error) {
	if s.failing["Node"] {
		return nil, errors.New("forbidden")
	}
	return s.apiStub.Node(ctx)
}

func (s *operationStub) Release(ctx context.Context, name string) (*refitv1alpha1.ClusterRelease, error) {
	if s.failing["ClusterRelease"] {
		return nil, errors.New("not found")
	}
	return s.apiStub.Release(ctx, name)
}

// beforeFirstChange returns an agent whose next move is the first change to its host.
func beforeFirstChange(t *testing.T) (*Agent, *operationStub) {
	t.Helper()
	stub := &operationStub{operation: refitv1alpha1.ClusterUpgrade{
		ObjectMeta: metav1.ObjectMeta{Name: "op", UID: "op-uid"},
		Spec:       refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: "v1.36.3"}, Approval: refitv1alpha1.ApprovalNone},
		Status:     refitv1alpha1.ClusterUpgradeStatus{Active: []string{nodeName}},
	}}
	a := newTestAgent(t, stub)
	order := goodOrder("sha256:aa").Spec
	upgrade := node.Upgrade{
		Operation: order.Operation, Release: order.Release, NodeUID: nodeUID, NodeName: nodeName, Role: order.Role, From: "v1.35.4", To: "v1.36.3",
	}
	j, err := journal.Create(filepath.Join(t.TempDir(), "journal"), machineID, node.Record{Kind: node.Opened, Upgrade: &upgrade})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	a.upgrade = &runner{
		journal: j, log: slog.New(slog.DiscardHandler), changed: a.status.setState, host: &steps.Host{Settings: a.Settings, Upgrade: upgrade, Log: a.Log},
	}
	a.state.Open = "upgrade-1"
	record(t, a, node.Record{Kind: node.Ordered, Order: &node.Order{Operation: "op-uid", Sequence: 8, Permit: refitv1alpha1.PermitApply}})
	for _, step := range node.Steps(upgrade) {
		if step.Undo != node.UndoNothing {
			break
		}
		record(t, a, node.Record{Kind: node.Started, Step: step.Name}, node.Record{Kind: node.Done, Step: step.Name})
	}
	return a, stub
}

func record(t *testing.T, a *Agent, records ...node.Record) {
	t.Helper()
	for _, r := range records {
		if err := a.upgrade.write(r); err != nil {
			t.Fatal(err)
		}
	}
}

// waiting returns why the agent reports that it waits for permission.
func waiting(a *Agent) string {
	status, _, _ := a.status.compose()
	c := meta.FindStatusCondition(status.Conditions, refitv1alpha1.ConditionWaiting)
	switch {
	case c == nil:
		return ""
	case c.Reason != refitv1alpha1.ReasonPermissionWaiting:
		return c.Reason // the controller would not release the node of a held operation
	}
	return c.Message
}

func TestNothingChangesUntilTheLiveOperationPermitsIt(t *testing.T) {
	for situation, c := range map[string]struct {
		change func(*operationStub)
		want   string
	}{
		"the API is unreachable": {
			func(s *operationStub) { s.unreachable = true }, "cannot read ClusterUpgrade op before the first change: connection refused",
		},
		"its Node cannot be read": {
			func(s *operationStub) { s.failing = map[string]bool{"Node": true} }, "cannot read the Node of this host before the first change: forbidden",
		},
		"the target cannot be read": {
			func(s *operationStub) {
				s.operation.Spec.Target = refitv1alpha1.Target{Release: "another"}
				s.failing = map[string]bool{"ClusterRelease": true}
			}, "cannot read ClusterRelease another, the target of ClusterUpgrade op: not found",
		},
		"paused":       {func(s *operationStub) { s.operation.Spec.Paused = true }, "ClusterUpgrade op is paused"},
		"not approved": {func(s *operationStub) { s.operation.Spec.Approval = refitv1alpha1.ApprovalRequired }, "the plan of ClusterUpgrade op is not approved"},
		"not active":   {func(s *operationStub) { s.operation.Status.Active = nil }, "this node is not in status.active of ClusterUpgrade op"},
	} {
		t.Run(situation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, stub := beforeFirstChange(t)
				good, before := stub.operation, len(a.upgrade.journal.Records())
				c.change(stub)
				for range 3 {
					if more, err := a.step(t.Context()); more || err != nil {
						t.Fatalf("the step started: %t, %v", more, err)
					}
					<-a.orders.wake // it checks again by itself
				}
				if got := waiting(a); got != c.want {
					t.Errorf("it reports %q", got)
				}
				if len(a.upgrade.journal.Records()) != before {
					t.Error("the journal changed")
				}
				stub.operation, stub.unreachable, stub.failing = good, false, nil
				if may, err := a.mayMove(t.Context()); !may || err != nil || waiting(a) != "" {
					t.Errorf("permitted: %t, %v; it still reports %q", may, err, waiting(a))
				}
			})
		})
	}
}

func TestWhatIsNeverPermittedFailsBeforeTheFirstChange(t *testing.T) {
	for reason, change := range map[string]func(*refitv1alpha1.ClusterUpgradeSpec){
		"ReleaseNotOnPath": func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Target.Kubernetes = "v1.35.9" },
		"NodeOutOfScope":   func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Scope = refitv1alpha1.ScopeControlPlane },
		"OperationAborted": func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Aborted = true }, // the controller waits for a result
	} {
		t.Run(reason, func(t *testing.T) {
			a, stub := beforeFirstChange(t)
			change(&stub.operation.Spec)
			if _, err := a.step(t.Context()); err != nil {
				t.Fatal(err)
			}
			state := node.Read(a.upgrade.journal.Records())
			if state.Failure == nil || state.Failure.Reason != reason || state.Changed() || state.Next().Kind != node.MoveWait {
				t.Errorf("the failure is %+v, the next move %s", state.Failure, state.Next().Kind)
			}
		})
	}
}

// A host that was changed is finished even if nobody permits it any more and the API is down.
func TestAResumedUpgradeNeedsNoPermission(t *testing.T) {
	a, stub := beforeFirstChange(t)
	stub.unreachable = true
	record(t, a, node.Record{Kind: node.Started, Step: node.StepKubeletConfig})
	if may, err := a.mayMove(t.Context()); !may || err != nil || stub.reads != 0 {
		t.Errorf("it may continue: %t, %v, after %d reads", may, err, stub.reads)
	}
}

// An order to hold ends the wait for permission.
func TestAnOrderToHoldEndsTheWaitForPermission(t *testing.T) {
	a, stub := beforeFirstChange(t)
	stub.operation.Spec.Paused = true
	if may, err := a.mayMove(t.Context()); may || err != nil {
		t.Fatal(may, err)
	}
	record(t, a, node.Record{Kind: node.Ordered, Order: &node.Order{Operation: "op-uid", Sequence: 9, Permit: refitv1alpha1.PermitHold}})
	if may, err := a.mayMove(t.Context()); !may || err != nil || waiting(a) != "" {
		t.Errorf("it still reports %q: %t, %v", waiting(a), may, err)
	}
}
