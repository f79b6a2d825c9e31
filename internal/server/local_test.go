package server_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/server/api"
	steps "github.com/refit-dev/refit/internal/upgrade/node"
)

// agent is the socket of an agent, which reports one status to each client and then heartbeats.
type agent struct {
	mu     sync.Mutex
	status cliv1alpha1.HostStatus
	server *http.Server
}

func startAgent(t *testing.T, socket string, status cliv1alpha1.HostStatus) *agent {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	must(t, err)
	a := &agent{status: status}
	a.server = &http.Server{Handler: a, ReadHeaderTimeout: wait}
	go func() { _ = a.server.Serve(listener) }()
	t.Cleanup(func() { _ = a.server.Close() })
	return a
}

func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.status.ObservedAt = time.Now()
	document, _ := json.Marshal(a.status)
	a.mu.Unlock()
	fmt.Fprintf(w, "event: status\ndata: %s\n\n", document)
	for r.Context().Err() == nil {
		fmt.Fprintf(w, "event: heartbeat\ndata: {\"observedAt\":%q}\n\n", time.Now().Format(time.RFC3339Nano))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(time.Second):
		}
	}
}

// at is the status of cp-1 while it is at a step.
func at(step string) cliv1alpha1.HostStatus {
	started := time.Now().Add(-2 * time.Second)
	return cliv1alpha1.HostStatus{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindHostStatus, Node: "cp-1", Phase: "Applying",
		Agent:   &cliv1alpha1.HostAgent{Version: "v0", PID: 7, BootID: "boot", StartTime: started},
		Upgrade: &cliv1alpha1.HostUpgrade{Operation: "op", OperationUID: "u", Role: "FirstControlPlane"},
		Step:    &cliv1alpha1.CurrentStep{Name: step, StartTime: started, RollsBackAt: started.Add(150 * time.Second)},
		Steps:   []cliv1alpha1.HostStep{{Name: step, State: "Running", StartTime: started}},
	}
}

func controlPlane() *corev1.Node {
	n := node("cp-1")
	n.Labels = map[string]string{"node-role.kubernetes.io/control-plane": ""}
	return n
}

func report(bootID string) *refitv1alpha1.NodeReport {
	r := &refitv1alpha1.NodeReport{ObjectMeta: metav1.ObjectMeta{Name: "cp-1"}}
	r.Status.BootID, r.Status.Etcd = bootID, &refitv1alpha1.EtcdFacts{}
	return r
}

func TestTheAgentExplainsAnOutage(t *testing.T) {
	b := newBed(t, upgrade(), controlPlane(), report("boot")).current(t)
	if state := get[api.State](t, b, "/api/v1alpha1/state", "viewer"); state.Agent.Connected || !state.Agent.Since.IsZero() {
		t.Errorf("a host without an agent has %+v", state.Agent)
	}
	events := b.follow(t, "")
	a := startAgent(t, b.socket, at(steps.StepAPIServer))
	for state := (api.State{}); !state.Agent.Connected || state.Agent.Status.Step == nil; {
		_, state = next[api.State](t, events, "state")
	}
	b.down.Store(true)
	var link api.APIServer
	for link.UnreachableSince.IsZero() {
		_, link = next[api.APIServer](t, events, "api")
	}
	if out := link.Outage; !out.Expected || !strings.HasPrefix(out.Message, "Expected: cp-1 is at swap-apiserver for 0:0") || out.RollsBackAt.IsZero() {
		t.Errorf("the outage is %+v", out)
	}
	// Its age is never older than the stream shows.
	_, again := next[api.APIServer](t, events, "api")
	if again.Outage.Message == link.Outage.Message {
		_, again = next[api.APIServer](t, events, "api")
	}
	if again.Outage.Message == link.Outage.Message {
		t.Errorf("the explanation stays %q", again.Outage.Message)
	}
	must(t, a.server.Close())
	for state := (api.State{Agent: api.LocalAgent{Connected: true}}); state.Agent.Connected; {
		_, state = next[api.State](t, events, "state")
		if state.Agent.Connected == (state.Agent.Error != "") {
			t.Errorf("the connection is %+v", state.Agent)
		}
	}
}

func TestAnOutageWithoutAStepIsNotExpected(t *testing.T) {
	b := newBed(t, upgrade(), controlPlane(), report("boot")).current(t)
	idle := at("")
	idle.Phase, idle.Step, idle.Steps = "Idle", nil, []cliv1alpha1.HostStep{}
	startAgent(t, b.socket, idle)
	events := b.follow(t, "")
	b.down.Store(true)
	var link api.APIServer
	for link.UnreachableSince.IsZero() {
		_, link = next[api.APIServer](t, events, "api")
	}
	if out := link.Outage; out.Expected || out.Cause != cliv1alpha1.OutageOther || out.Investigate == "" || out.InvestigateOn != "cp-1" {
		t.Errorf("the outage is %+v", out)
	}
}

// The host of the server may be a node of another cluster, which explains nothing.
func TestTheAgentOfAnotherClusterIsIgnored(t *testing.T) {
	b := newBed(t, controlPlane(), report("another boot")).current(t)
	startAgent(t, b.socket, at(steps.StepAPIServer))
	events := b.follow(t, "")
	b.down.Store(true)
	var link api.APIServer
	for link.UnreachableSince.IsZero() {
		_, link = next[api.APIServer](t, events, "api")
	}
	if link.Outage.Expected || link.Outage.Node != "" {
		t.Errorf("the outage is %+v", link.Outage)
	}
	answer, body := b.send(t, request{path: "/api/v1alpha1/state", token: "viewer"})
	if answer.StatusCode == http.StatusOK && strings.Contains(string(body), "agent\":{\"connected\":true") {
		t.Errorf("the state is %s", body)
	}
}

func TestASocketThatIsNotOneIsReported(t *testing.T) {
	b := newBed(t, upgrade()).current(t) // it has found no socket
	must(t, os.WriteFile(b.socket, nil, 0o600))
	b.eventually(t, "the agent is reported as lost", func() bool {
		state := get[api.State](t, b, "/api/v1alpha1/state", "viewer")
		return !state.Agent.Connected && state.Agent.Error != ""
	})
}
