package outage_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/outage"
)

// began is when the API server became unreachable.
var began = time.Date(2026, 10, 1, 8, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }

func stamp(seconds int) *metav1.Time { t := metav1.NewTime(after(seconds)); return &t }

// single is a cluster with one control plane node, 10 s after the API server became unreachable.
func single() *outage.Input {
	return &outage.Input{
		Since: began, Error: "connection refused", Members: 1, ObservedAt: after(-1), Now: after(10),
		Servers:   []outage.Server{{Node: "cp-1", Reach: outage.Silent}},
		Operation: operation("cp-1"),
	}
}

func operation(active ...string) *refitv1alpha1.ClusterUpgrade {
	u := &refitv1alpha1.ClusterUpgrade{}
	u.UID, u.Status.Active, u.Status.Phase = "op-1", active, refitv1alpha1.PhaseRunning
	return u
}

// three is a cluster with three control plane nodes of which none responds.
func three() *outage.Input {
	in := single()
	in.Members = 3
	in.Servers = []outage.Server{{"cp-1", outage.Silent}, {"cp-2", outage.Silent}, {"cp-3", outage.Silent}}
	return in
}

// order is the last known state of a node at a step.
func order(name, step string, start int) *refitv1alpha1.NodeUpgrade {
	o := &refitv1alpha1.NodeUpgrade{}
	o.Name = name
	o.Spec.Operation.UID, o.Spec.Role, o.Spec.Permit, o.Spec.Sequence = "op-1", refitv1alpha1.RoleFirstControlPlane, refitv1alpha1.PermitApply, 7
	o.Status.ObservedSequence, o.Status.Phase, o.Status.Step = 7, refitv1alpha1.NodeApplying, step
	o.Status.Steps = []refitv1alpha1.StepStatus{{Name: step, State: refitv1alpha1.StepRunning, StartTime: stamp(start)}}
	return o
}

// agent is the report of the agent of cp-1 at a step, one second old.
func agent(step string, start int) *cliv1alpha1.HostStatus {
	return &cliv1alpha1.HostStatus{
		Node: "cp-1", ObservedAt: after(9), Phase: string(refitv1alpha1.NodeApplying),
		Upgrade: &cliv1alpha1.HostUpgrade{Role: string(refitv1alpha1.RoleFirstControlPlane)},
		Step:    &cliv1alpha1.CurrentStep{Name: step, StartTime: after(start), Deadline: after(start + 240), RollsBackAt: after(start + 240)},
		Steps:   []cliv1alpha1.HostStep{{Name: step, State: "Running", StartTime: after(start)}},
	}
}

// finished is the report of an agent between two steps: the outage began with swap-etcd, which
// ended at a time, and swap-apiserver started and ended then.
func finished(etcd, started, ended int) *cliv1alpha1.HostStatus {
	a := agent(node.StepAPIServer, started)
	a.Step = nil
	a.Steps = []cliv1alpha1.HostStep{
		{Name: node.StepAPIServer, State: "Done", StartTime: after(started), CompletionTime: after(ended)},
		{Name: node.StepEtcd, State: "Done", StartTime: after(-1), CompletionTime: after(etcd)},
	}
	return a
}

type situation struct {
	name    string
	in      func() *outage.Input
	cause   string
	source  string
	message string // contained in the message
}

func with(in *outage.Input, change func(*outage.Input)) func() *outage.Input {
	return func() *outage.Input { change(in); return in }
}

var situations = []situation{
	{
		"the agent replaces the API server", with(single(), func(in *outage.Input) { in.Agent = agent(node.StepAPIServer, -2) }),
		cliv1alpha1.OutageStep, cliv1alpha1.SourceAgent,
		"Expected: cp-1 is at swap-apiserver for 0:12 (agent, 1 s ago); rolls back by itself after 4:00 at the latest",
	},
	{
		"the agent replaces etcd", with(single(), func(in *outage.Input) { in.Agent = agent(node.StepEtcd, -2) }),
		cliv1alpha1.OutageStep, cliv1alpha1.SourceAgent, "Expected: cp-1 is at swap-etcd for 0:12",
	},
	{
		"last known at the API server", with(single(), func(in *outage.Input) {
			in.Orders = []*refitv1alpha1.NodeUpgrade{order("cp-1", node.StepAPIServer, -2)}
		}),
		cliv1alpha1.OutageStep, cliv1alpha1.SourceLastKnown, "Expected: cp-1 was last seen at swap-apiserver, which started 0:12 ago (last known, 0:11 ago)",
	},
	{"the outage began with swap-etcd and continues", with(single(), func(in *outage.Input) {
		in.Now, in.Agent = after(40), agent(node.StepAPIServer, 28)
		in.Agent.ObservedAt = after(39)
		in.Agent.Steps = append([]cliv1alpha1.HostStep{{Name: node.StepEtcd, State: "Done", StartTime: after(-1), CompletionTime: after(27)}}, in.Agent.Steps...)
	}), cliv1alpha1.OutageStep, cliv1alpha1.SourceAgent, "Expected: cp-1 is at swap-apiserver for 0:12"},
	{"swap-apiserver finished last", with(single(), func(in *outage.Input) {
		in.Now, in.Agent = after(35), finished(27, 27, 33)
		in.Agent.ObservedAt = after(34)
	}), cliv1alpha1.OutageUnknown, cliv1alpha1.SourceAgent, "cp-1 finished swap-apiserver 0:02 ago"},
	{"swap-etcd, with which the outage began, finished long ago", with(single(), func(in *outage.Input) {
		in.Now, in.Agent = after(80), finished(27, 28, 75)
		in.Agent.ObservedAt = after(79)
	}), cliv1alpha1.OutageUnknown, cliv1alpha1.SourceAgent, "cp-1 finished swap-apiserver 0:05 ago"},
	{"the agent undoes the API server", with(single(), func(in *outage.Input) {
		in.Agent = agent(node.StepAPIServer, -2)
		in.Agent.Phase, in.Agent.Step.Undo, in.Agent.Step.RollsBackAt = string(refitv1alpha1.NodeRollingBack), true, time.Time{}
	}), cliv1alpha1.OutageStep, cliv1alpha1.SourceAgent, "Expected: cp-1 undoes swap-apiserver for 0:12 (agent, 1 s ago)"},
	{"two members lose the quorum while one restarts", with(three(), func(in *outage.Input) {
		in.Members, in.Servers, in.Agent = 2, in.Servers[:2], agent(node.StepEtcd, -2)
	}), cliv1alpha1.OutageStep, cliv1alpha1.SourceAgent, "Expected: cp-1 is at swap-etcd"},

	{
		"no operation", with(single(), func(in *outage.Input) { in.Operation = nil }),
		cliv1alpha1.OutageOther, "", "Not part of the upgrade: no step in progress restarts an API server",
	},
	{"the operation has ended", with(single(), func(in *outage.Input) {
		in.Operation.Status.Phase = refitv1alpha1.PhaseSucceeded
		in.Operation.Status.Conditions = ended()
		in.Orders = []*refitv1alpha1.NodeUpgrade{order("cp-1", node.StepAPIServer, -2)}
	}), cliv1alpha1.OutageOther, "", "Not part of the upgrade"},
	{"the order is of another operation", with(single(), func(in *outage.Input) {
		in.Orders = []*refitv1alpha1.NodeUpgrade{order("cp-1", node.StepAPIServer, -2)}
		in.Orders[0].Spec.Operation.UID = "former"
	}), cliv1alpha1.OutageOther, "", "Not part of the upgrade"},
	{"the node is not active", with(single(), func(in *outage.Input) {
		in.Operation.Status.Active = nil
		in.Orders = []*refitv1alpha1.NodeUpgrade{order("cp-1", node.StepAPIServer, -2)}
	}), cliv1alpha1.OutageOther, "", "Not part of the upgrade"},
	{"a worker is at swap-kubelet", with(single(), func(in *outage.Input) {
		in.Operation = operation("w-1")
		in.Orders = []*refitv1alpha1.NodeUpgrade{order("w-1", node.StepKubelet, -2)}
		in.Orders[0].Spec.Role = refitv1alpha1.RoleWorker
	}), cliv1alpha1.OutageOther, "", "Not part of the upgrade"},
	{"a stolen worker claims to be at swap-apiserver", with(single(), func(in *outage.Input) {
		in.Operation = operation("w-1")
		in.Orders = []*refitv1alpha1.NodeUpgrade{order("w-1", node.StepAPIServer, -2)}
		in.Orders[0].Spec.Role = refitv1alpha1.RoleWorker
	}), cliv1alpha1.OutageOther, "", "Not part of the upgrade"},
	{"a node that is no API server claims to be at swap-apiserver", with(single(), func(in *outage.Input) {
		in.Operation = operation("w-1")
		in.Orders = []*refitv1alpha1.NodeUpgrade{order("w-1", node.StepAPIServer, -2)}
	}), cliv1alpha1.OutageOther, "", "Not part of the upgrade"},
	{
		"the agent is at a step that restarts nothing", with(single(), func(in *outage.Input) { in.Agent = agent(node.StepControllers, -2) }),
		cliv1alpha1.OutageOther, "", "Not part of the upgrade: no step in progress restarts an API server",
	},
	{"the agent contradicts what was last known", with(single(), func(in *outage.Input) {
		in.Orders = []*refitv1alpha1.NodeUpgrade{order("cp-1", node.StepAPIServer, -60)}
		in.Agent = agent(node.StepUploadConfig, -2)
	}), cliv1alpha1.OutageOther, "", "Not part of the upgrade"},
	{"the outage began before the step", with(single(), func(in *outage.Input) {
		in.Agent = agent(node.StepAPIServer, 30)
		in.Now, in.Agent.ObservedAt = after(40), after(39)
	}), cliv1alpha1.OutageOther, "", "Not part of the upgrade: it began 0:30 before cp-1 started swap-apiserver"},
	{"a restore of etcd", with(single(), func(in *outage.Input) {
		in.Agent = agent(node.StepAPIServer, -2)
		in.Agent.Restore = &cliv1alpha1.HostRestore{Step: "start-etcd"}
	}), cliv1alpha1.OutageOther, "", "Not part of the upgrade: an unfinished restore of etcd is in progress on cp-1"},
	{
		"others do not respond either", with(three(), func(in *outage.Input) { in.Agent = agent(node.StepAPIServer, -2) }),
		cliv1alpha1.OutageOther, cliv1alpha1.SourceAgent, "but the API servers of cp-2 and cp-3 do not respond either",
	},
	{"others have not responded for long after swap-etcd began", with(three(), func(in *outage.Input) {
		in.Agent = agent(node.StepEtcd, -2)
		in.Now, in.Agent.ObservedAt = after(60), after(59)
	}), cliv1alpha1.OutageOther, cliv1alpha1.SourceAgent, "do not respond either"},

	{"the step failed and is not rolled back", with(single(), func(in *outage.Input) {
		in.Agent = agent(node.StepAPIServer, -2)
		in.Agent.Phase, in.Agent.Step = string(refitv1alpha1.NodeFailed), nil
		in.Agent.Error = &cliv1alpha1.ExplainError{Step: node.StepAPIServer, Message: "kube-apiserver keeps crashing", At: after(5)}
	}), cliv1alpha1.OutageFailure, cliv1alpha1.SourceAgent, "Not expected: cp-1 failed at swap-apiserver: kube-apiserver keeps crashing"},
	{"the agent cannot write its journal", with(single(), func(in *outage.Input) {
		in.Agent = agent(node.StepAPIServer, -2)
		in.Agent.Phase, in.Agent.Step = string(refitv1alpha1.NodeFailed), nil
		in.Agent.Error = &cliv1alpha1.ExplainError{Reason: "JournalBroken", Message: "cannot write the journal", At: after(5)}
	}), cliv1alpha1.OutageFailure, cliv1alpha1.SourceAgent, "Not expected: cp-1 failed: cannot write the journal"},
	{"another step failed", with(single(), func(in *outage.Input) {
		in.Agent = agent(node.StepUploadConfig, -200)
		in.Agent.Phase, in.Agent.Step = string(refitv1alpha1.NodeFailed), nil
		in.Agent.Error = &cliv1alpha1.ExplainError{Step: node.StepUploadConfig, Message: "forbidden", At: after(-100)}
	}), cliv1alpha1.OutageOther, "", "Not part of the upgrade"},

	{"the step failed long before", with(single(), func(in *outage.Input) {
		in.Agent = agent(node.StepAPIServer, -900)
		in.Agent.Phase, in.Agent.Step = string(refitv1alpha1.NodeFailed), nil
		in.Agent.Error = &cliv1alpha1.ExplainError{Step: node.StepAPIServer, Message: "kube-apiserver keeps crashing", At: after(-600)}
	}), cliv1alpha1.OutageUnknown, cliv1alpha1.SourceAgent, "cp-1 failed at swap-apiserver 10:00 before"},
	{"the order to apply may have come since", with(single(), func(in *outage.Input) {
		in.Orders = []*refitv1alpha1.NodeUpgrade{order("cp-1", "", 0)}
		in.Orders[0].Spec.Permit = refitv1alpha1.PermitHold
	}), cliv1alpha1.OutageUnknown, cliv1alpha1.SourceLastKnown, "cp-1 was last seen without a step in progress and may have reached a step"},
	{"the agent had not accepted the order", with(single(), func(in *outage.Input) {
		in.Orders = []*refitv1alpha1.NodeUpgrade{order("cp-1", node.StepAPIServer, -600)}
		in.Orders[0].Spec.Sequence = 8
	}), cliv1alpha1.OutageUnknown, cliv1alpha1.SourceLastKnown, "without a step in progress"},

	{"other API servers were not checked", with(three(), func(in *outage.Input) {
		in.Servers[1].Reach, in.Servers[2].Reach, in.Agent = outage.Unchecked, outage.Unchecked, agent(node.StepAPIServer, -2)
	}), cliv1alpha1.OutageUnknown, cliv1alpha1.SourceAgent, "but the API servers of cp-2 and cp-3 were not checked"},
	{
		"the API servers are unknown", with(single(), func(in *outage.Input) { in.Servers, in.Agent = nil, agent(node.StepAPIServer, -2) }),
		cliv1alpha1.OutageUnknown, cliv1alpha1.SourceAgent, "but the other API servers are unknown",
	},
	{
		"etcd elects a leader", with(three(), func(in *outage.Input) { in.Agent = agent(node.StepEtcd, -2) }),
		cliv1alpha1.OutageUnknown, cliv1alpha1.SourceAgent, "do not respond either",
	},
	{"the number of members is unknown", with(three(), func(in *outage.Input) {
		in.Members, in.Agent = 0, agent(node.StepEtcd, -2)
		in.Now, in.Agent.ObservedAt = after(60), after(59)
	}), cliv1alpha1.OutageUnknown, cliv1alpha1.SourceAgent, "do not respond either"},
	{
		"a restart of the kubelet", with(single(), func(in *outage.Input) { in.Agent = agent(node.StepKubelet, -2) }),
		cliv1alpha1.OutageUnknown, cliv1alpha1.SourceAgent, "Unknown: cp-1 is at swap-kubelet for 0:12 (agent, 1 s ago), which can restart the API server",
	},
	{
		"kube-vip restarts", with(single(), func(in *outage.Input) { in.Agent = agent(node.StepPods, -2) }),
		cliv1alpha1.OutageUnknown, cliv1alpha1.SourceAgent, "which can restart the API server",
	},
	{
		"last known before the step", with(single(), func(in *outage.Input) { in.Orders = []*refitv1alpha1.NodeUpgrade{order("cp-1", node.StepRender, -2)} }),
		cliv1alpha1.OutageUnknown, cliv1alpha1.SourceLastKnown, "cp-1 was last seen at render-manifests and may have reached a step that restarts the API server",
	},
	{"the last known state is older than the outage", with(single(), func(in *outage.Input) {
		in.ObservedAt, in.Orders = after(-60), []*refitv1alpha1.NodeUpgrade{order("cp-1", node.StepAPIServer, -62)}
	}), cliv1alpha1.OutageUnknown, cliv1alpha1.SourceLastKnown, "the state of cp-1 is 1:00 older than the outage"},
	{
		"nothing was known before the outage", with(single(), func(in *outage.Input) { in.ObservedAt, in.Operation = time.Time{}, nil }),
		cliv1alpha1.OutageUnknown, "", "Unknown: what was known",
	},
	{"last known far beyond the timeout", with(single(), func(in *outage.Input) {
		in.Orders, in.Now = []*refitv1alpha1.NodeUpgrade{order("cp-1", node.StepAPIServer, -2)}, after(4*60+40)
	}), cliv1alpha1.OutageUnknown, cliv1alpha1.SourceLastKnown, "which should have ended 0:42 ago"},
	{"the agent is silent and the step beyond its deadline", with(single(), func(in *outage.Input) {
		in.Agent, in.Now = agent(node.StepAPIServer, -2), after(4*60+40)
	}), cliv1alpha1.OutageUnknown, cliv1alpha1.SourceLastKnown, "which should have ended"},
	{"swap-etcd waits for another node", with(single(), func(in *outage.Input) {
		in.Agent = agent(node.StepEtcd, -2)
		in.Agent.Waits = "waiting for node cp-2 to finish its etcd upgrade"
	}), cliv1alpha1.OutageUnknown, cliv1alpha1.SourceAgent, "but waits: waiting for node cp-2"},
	{
		"the clock of the host is ahead", with(single(), func(in *outage.Input) { in.Agent = agent(node.StepAPIServer, 100) }),
		cliv1alpha1.OutageUnknown, cliv1alpha1.SourceAgent, "the clock of cp-1 is ahead",
	},
	{"the API server has just been replaced", with(single(), func(in *outage.Input) {
		in.Agent = agent(node.StepControllers, 8)
		in.Agent.Steps = append(in.Agent.Steps, cliv1alpha1.HostStep{Name: node.StepAPIServer, State: "Done", StartTime: after(-2), CompletionTime: after(8)})
	}), cliv1alpha1.OutageUnknown, cliv1alpha1.SourceAgent, "cp-1 finished swap-apiserver 0:02 ago"},
	{"the API server has just been rolled back", with(single(), func(in *outage.Input) {
		in.Agent = agent(node.StepVerifyOld, 8)
		in.Agent.Phase = string(refitv1alpha1.NodeRollingBack)
		in.Agent.Steps = []cliv1alpha1.HostStep{{Name: node.StepAPIServer, State: "Undone", StartTime: after(-2), UndoStartTime: after(4), UndoCompletionTime: after(7)}}
	}), cliv1alpha1.OutageUnknown, cliv1alpha1.SourceAgent, "cp-1 undid swap-apiserver 0:03 ago"},
}

func ended() []metav1.Condition {
	return []metav1.Condition{{Type: refitv1alpha1.ConditionReconciling, Status: metav1.ConditionFalse}, {Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Succeeded"}}
}

func TestSituations(t *testing.T) {
	for _, s := range situations {
		t.Run(s.name, func(t *testing.T) {
			got := outage.Decide(s.in())
			switch {
			case got == nil:
				t.Fatal("no outage")
			case got.Cause != s.cause || got.Source != s.source || !strings.Contains(got.Message, s.message):
				t.Errorf("cause %s, source %q: %s\nwant %s, %q: %s", got.Cause, got.Source, got.Message, s.cause, s.source, s.message)
			case got.Expected != (s.cause == cliv1alpha1.OutageStep):
				t.Errorf("expected is %t with the cause %s", got.Expected, got.Cause)
			case got.Expected && got.Investigate != "" || !got.Expected && got.Investigate == "":
				t.Errorf("expected is %t, and the command is %q", got.Expected, got.Investigate)
			}
			if !got.Expected && (!got.Until.IsZero() || !got.RollsBackAt.IsZero()) {
				t.Errorf("it promises an end: %+v", got)
			}
		})
	}
}

func TestAnAPIServerThatRespondsIsNoOutage(t *testing.T) {
	in := three()
	in.Agent, in.Servers[2].Reach = agent(node.StepAPIServer, -2), outage.Responds
	if got := outage.Decide(in); got != nil {
		t.Errorf("%+v", got)
	}
	in = single()
	in.Since = time.Time{}
	if got := outage.Decide(in); got != nil {
		t.Errorf("reachable: %+v", got)
	}
}

func TestTheEndIsEstimatedFromOtherNodes(t *testing.T) {
	done := func(step string, took int) *refitv1alpha1.NodeUpgrade {
		o := order("cp-9", step, 0)
		o.Status.Steps[0].State, o.Status.Steps[0].CompletionTime = refitv1alpha1.StepDone, stamp(took)
		return o
	}
	worker := done(node.StepAPIServer, 900)
	worker.Spec.Role = refitv1alpha1.RoleWorker
	usual := outage.Usual([]*refitv1alpha1.NodeUpgrade{done(node.StepEtcd, 30), done(node.StepAPIServer, 20), done(node.StepAPIServer, 24), done(node.StepAPIServer, 22), worker})
	in := single()
	in.Agent, in.Usual = agent(node.StepEtcd, -2), usual
	if got := outage.Decide(in); !got.Until.Equal(after(-2 + 30 + 22)) {
		t.Errorf("swap-etcd ends at %s, with %v", got.Until, usual)
	}
	in.Now, in.Agent.ObservedAt = after(55), after(54)
	if got := outage.Decide(in); !got.Expected || !got.Until.IsZero() {
		t.Errorf("an end in the past: %+v", got)
	}
	delete(usual, node.StepAPIServer)
	in.Now, in.Agent.ObservedAt = after(10), after(9)
	if got := outage.Decide(in); !got.Until.IsZero() {
		t.Errorf("swap-apiserver has no estimate, but it ends at %s", got.Until)
	}
}
