package server_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
	"github.com/refit-dev/refit/internal/server/api"
)

func TestTheStateHasItsSourceAndAnETag(t *testing.T) {
	b := newBed(t, upgrade(), node("cp-1"), node("worker-1")).current(t)
	answer, body := b.send(t, request{path: "/api/v1alpha1/state", token: "viewer"})
	var state api.State
	decode(t, body, &state)
	if state.Cluster != "prod" || state.Source != api.API || time.Since(state.ObservedAt) > 5*time.Second || state.Operation.Name != "op" ||
		state.Nodes.Total != 2 || state.Nodes.Versions[0].Nodes != 2 || !state.APIServer.Reachable {
		t.Errorf("the state is %+v", state)
	}
	etag := answer.Header.Get("ETag")
	time.Sleep(time.Second) // the copy is confirmed again meanwhile
	again := request{path: "/api/v1alpha1/state", token: "viewer", header: http.Header{"If-None-Match": {etag}}}
	if answer, _ := b.send(t, again); answer.StatusCode != http.StatusNotModified {
		t.Errorf("status is %d for %s", answer.StatusCode, etag)
	}
	must(t, b.objects.Create(t.Context(), node("worker-2")))
	b.eventually(t, "the state changes", func() bool { answer, _ := b.send(t, again); return answer.StatusCode == http.StatusOK })
}

func TestNodesComeInPages(t *testing.T) {
	objects := []client.Object{upgrade()}
	for i := range 5 {
		objects = append(objects, node(fmt.Sprintf("worker-%d", i)))
	}
	b := newBed(t, objects...).current(t)
	const path = "/api/v1alpha1/operations/op/nodes"
	var names []string
	for next, pages := "", 0; pages == 0 || next != ""; pages++ {
		page := get[api.NodePage](t, b, path+"?limit=2&continue="+next, "viewer")
		for _, row := range page.Nodes {
			names = append(names, row.Node)
		}
		if next = page.Continue; page.Total != 5 || len(page.Nodes) > 2 {
			t.Fatalf("the page is %+v", page)
		}
	}
	if fmt.Sprint(names) != "[worker-0 worker-1 worker-2 worker-3 worker-4]" {
		t.Errorf("the nodes are %v", names)
	}
	if page := get[api.NodePage](t, b, path+"?q=-3", "viewer"); page.Total != 1 || page.Nodes[0].Node != "worker-3" {
		t.Errorf("by name: %+v", page)
	}
	if page := get[api.NodePage](t, b, path+"?state=Failed&state=Active", "viewer"); page.Total != 0 || page.Nodes == nil {
		t.Errorf("by state: %+v", page)
	}
	for _, query := range []string{"?limit=1001", "?limit=-1", "?limit=x"} {
		if answer, body := b.send(t, request{path: path + query, token: "viewer"}); answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, answer.StatusCode, body)
		}
	}
	if answer, body := b.send(t, request{path: "/api/v1alpha1/operations/none/nodes", token: "viewer"}); answer.StatusCode != http.StatusNotFound || problemOf(t, body).Code != "not-found" {
		t.Errorf("of no upgrade: %d %s", answer.StatusCode, body)
	}
}

func TestAWaitEndsWithTheUpgrade(t *testing.T) {
	b := newBed(t, upgrade()).current(t)
	short := get[api.OperationAnswer](t, b, "/api/v1alpha1/operations/op?wait=ended&timeout=100ms", "viewer")
	if short.Operation.Ended {
		t.Errorf("it has ended: %+v", short)
	}
	ended := make(chan api.OperationAnswer, 1)
	go func() { ended <- get[api.OperationAnswer](t, b, "/api/v1alpha1/operations/op?wait=ended", "viewer") }()
	u := &refitv1alpha1.ClusterUpgrade{}
	must(t, b.objects.Get(t.Context(), client.ObjectKey{Name: "op"}, u))
	u.Status.Phase = refitv1alpha1.PhaseSucceeded
	u.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: refitv1alpha1.ReasonSucceeded}}
	must(t, b.objects.Status().Update(t.Context(), u))
	if out := <-ended; !out.Operation.Ended {
		t.Errorf("got %+v", out)
	}
	for _, query := range []string{"?wait=x", "?wait=ended&timeout=2h", "?wait=ended&timeout=0s", "?wait=ended&timeout=x"} {
		if answer, body := b.send(t, request{path: "/api/v1alpha1/operations/op" + query, token: "viewer"}); answer.StatusCode != http.StatusBadRequest || len(problemOf(t, body).Errors) != 1 {
			t.Errorf("%s: %d %s", query, answer.StatusCode, body)
		}
	}
}

// A server that restarts while the API server is down shows the last known state with its age, to
// whoever holds the one-time code. It is ready.
func TestARestartDuringAnOutageShowsTheLastKnownState(t *testing.T) {
	directory := t.TempDir()
	objects := operationstest.NewClient(t, upgrade(), node("worker-1"))
	first := startBed(t, objects, directory, false).current(t)
	admitted := first.signIn(t, api.SignIn{Token: "viewer"})
	if answer, body := first.send(t, request{path: "/api/v1alpha1/state", cookie: admitted}); answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", answer.StatusCode, body)
	}
	first.stop()
	b := startBed(t, objects, directory, true)
	if answer, body := b.send(t, request{path: "/api/v1alpha1/state", cookie: admitted}); answer.StatusCode != http.StatusOK {
		t.Errorf("a session of the last server: %d %s", answer.StatusCode, body)
	}
	cookie := b.signIn(t, api.SignIn{Code: b.NewCode()})
	var state api.State
	b.eventually(t, "the outage is reported", func() bool {
		answer, body := b.send(t, request{path: "/api/v1alpha1/state", cookie: cookie})
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", answer.StatusCode, body)
		}
		state = api.State{}
		decode(t, body, &state)
		return !state.APIServer.UnreachableSince.IsZero()
	})
	if state.Source != api.LastKnown || state.ObservedAt.IsZero() || time.Since(state.ObservedAt) < 0 || state.Operation.Name != "op" || state.Nodes.Total != 1 {
		t.Errorf("the state is %+v", state)
	}
	if answer, body := b.send(t, request{path: "/readyz"}); answer.StatusCode != http.StatusOK {
		t.Errorf("readyz: %d %s", answer.StatusCode, body)
	}
	answer, body := b.send(t, request{path: "/api/v1alpha1/state", token: "viewer"})
	if p := problemOf(t, body); answer.StatusCode != http.StatusServiceUnavailable || p.Code != "api-unreachable" || p.Since.IsZero() || answer.Header.Get("Retry-After") == "" {
		t.Errorf("a token that nobody can review: %d %s", answer.StatusCode, body)
	}
}
