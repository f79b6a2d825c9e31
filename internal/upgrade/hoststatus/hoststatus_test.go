package hoststatus_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/hoststatus"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

func at(n int) time.Time { return time.Date(2026, 10, 1, 8, 0, n, 0, time.UTC) }

// state is the state of a control plane host after these records.
func state(records ...node.Record) *node.State {
	u := node.Upgrade{
		Operation: refitv1alpha1.Operation{Name: "to-v1-36-3", UID: "op-1"}, Release: refitv1alpha1.ReleaseRef{Name: "kubernetes-v1.36.3"},
		NodeName: "cp-1", MachineID: "f3b16037d0c04e0766126b3bf43ca331", Role: refitv1alpha1.RoleFirstControlPlane, From: "v1.35.4", To: "v1.36.3", Etcd: true,
	}
	order := node.Order{Sequence: 12, Epoch: 2, Permit: refitv1alpha1.PermitApply, Rollback: refitv1alpha1.RollbackAuto}
	all := []node.Record{{Kind: node.Opened, Upgrade: &u}, {Kind: node.Ordered, Order: &order}}
	for i, r := range records {
		r.At = at(i)
		all = append(all, r)
	}
	return node.Read(all)
}

func started(step string) node.Record { return node.Record{Kind: node.Started, Step: step} }

var secret = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"

func failure() *node.Failure {
	return node.ManualIntervention("ContainerCrashes", nil, "Fix --token="+secret, "kube-apiserver keeps crashing: %s", secret)
}

func TestDocuments(t *testing.T) {
	failed := node.Record{Kind: node.Failed, Step: node.StepAPIServer, Failure: failure()}
	host := node.HostState{Sequence: 12, Epoch: 2, MachineID: "f3b16037d0c04e0766126b3bf43ca331"}
	limit := hoststatus.StepDeadline{Step: node.StepAPIServer, At: at(240)}
	for _, tt := range []struct {
		name  string
		known hoststatus.Known
		line  string
	}{
		{"never upgraded", hoststatus.Known{}, "Idle"},
		{"in progress, from files", hoststatus.Known{State: state(started(node.StepAPIServer))}, "Applying, swap-apiserver"},
		{
			"in progress",
			hoststatus.Known{State: state(started(node.StepAPIServer)), Step: limit},
			"Applying, swap-apiserver (rolls back by itself at 08:04:00 UTC at the latest)",
		},
		{"the deadline of another step", hoststatus.Known{State: state(started(node.StepEtcd)), Step: limit}, "Applying, swap-etcd"},
		{
			"a wait may end without a rollback",
			hoststatus.Known{State: state(started(node.StepAPIServer)), Step: limit, Waiting: "waiting for the kubelet"},
			"Applying, swap-apiserver, waits: waiting for the kubelet",
		},
		{"between two steps", hoststatus.Known{State: state(started(node.StepEtcd), node.Record{Kind: node.Done, Step: node.StepEtcd})}, "Applying, swap-etcd done"},
		{"undo", hoststatus.Known{
			State: state(started(node.StepAPIServer), failed, node.Record{Kind: node.RollbackStarted}, node.Record{Kind: node.UndoStarted, Step: node.StepAPIServer}),
			Step:  limit,
		}, "RollingBack, undo swap-apiserver, failed: kube-apiserver keeps crashing: [redacted] (ContainerCrashes)"},
		{"an order that led to no upgrade", hoststatus.Known{
			Host:  node.HostState{Result: &node.Result{Phase: refitv1alpha1.NodeFailed, Failure: failure(), At: at(9)}},
			State: state(node.Record{Kind: node.Finished, Outcome: refitv1alpha1.NodeSucceeded}),
		}, "Failed, failed: kube-apiserver keeps crashing: [redacted] (ContainerCrashes)"},
		{"not resumed", hoststatus.Known{Host: node.HostState{Unresumed: failure()}}, "Failed, failed: kube-apiserver keeps crashing: [redacted] (ContainerCrashes)"},
		{
			"refused",
			hoststatus.Known{Refusal: &node.Refusal{Reason: "StaleEpoch", Message: "token: " + secret}},
			"Idle, order refused: token: [redacted] (StaleEpoch)",
		},
		{"restore", hoststatus.Known{Restore: &cliv1alpha1.HostRestore{Step: "start-etcd"}}, "Idle, unfinished restore of etcd at start-etcd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.known.Host.Sequence, tt.known.Host.MachineID = host.Sequence, host.MachineID
			document := hoststatus.New(&tt.known, at(30))
			if got := hoststatus.Line(document); got != tt.line {
				t.Errorf("%q, want %q", got, tt.line)
			}
			text, err := json.Marshal(document)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), secret) || strings.Contains(string(text), host.MachineID) {
				t.Errorf("it contains a secret: %s", text)
			}
			if document.Kind != cliv1alpha1.KindHostStatus || !document.ObservedAt.Equal(at(30)) || document.Sequence != 12 || document.Steps == nil {
				t.Errorf("%+v", document)
			}
		})
	}
}

func TestUndoneStepHasItsTimes(t *testing.T) {
	s := state(started(node.StepAPIServer), node.Record{Kind: node.Failed, Step: node.StepAPIServer, Failure: failure()}, node.Record{Kind: node.RollbackStarted},
		node.Record{Kind: node.UndoStarted, Step: node.StepAPIServer}, node.Record{Kind: node.Undone, Step: node.StepAPIServer, Left: []string{"--token=" + secret}})
	document := hoststatus.New(&hoststatus.Known{State: s}, at(30))
	got := document.Steps[0]
	if got.State != "Undone" || !got.StartTime.Equal(at(0)) || !got.UndoStartTime.Equal(at(3)) || !got.UndoCompletionTime.Equal(at(4)) {
		t.Errorf("%+v", got)
	}
	if document.Next != node.StepVerifyOld || len(document.Left) != 1 || strings.Contains(document.Left[0], secret) {
		t.Errorf("next %q, left %q", document.Next, document.Left)
	}
}
