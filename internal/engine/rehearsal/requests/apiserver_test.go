package requests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

// fakeServer answers like kube-apiserver.
type fakeServer struct {
	mu       sync.Mutex
	answers  map[string]func(attempt int, r *http.Request) (int, string)
	attempts map[string]int
}

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.attempts[r.URL.Path]++
	attempt := f.attempts[r.URL.Path]
	answer := f.answers[r.URL.Path]
	f.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer secret" || answer == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	status, body := answer(attempt, r)
	w.WriteHeader(status)
	fmt.Fprint(w, body)
}

func always(body string) func(int, *http.Request) (int, string) {
	return func(int, *http.Request) (int, string) { return http.StatusOK, body }
}

const (
	coreDiscovery = `{"items":[{"metadata":{"name":""},"versions":[{"version":"v1","resources":[
		{"resource":"pods","verbs":["get","list"]},{"resource":"secrets","verbs":["list"]},{"resource":"bindings","verbs":["create"]}]}]}]}`
	groupDiscovery = `{"items":[{"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","resources":[{"resource":"nodes","verbs":["list"]}]}]}]}`
	crds           = `{"metadata":{},"items":[{"spec":{"group":"shop.example","names":{"plural":"carts"},"conversion":{"strategy":"Webhook"},
		"versions":[{"name":"v2","served":true},{"name":"v1","served":true,"storage":true}]},"status":{"storedVersions":["v1"]}}]}`
	apiServices = `{"metadata":{},"items":[{"spec":{"group":"metrics.k8s.io","version":"v1beta1","service":{"name":"metrics"}}},{"spec":{"version":"v1"}}]}`
)

func healthy() map[string]func(int, *http.Request) (int, string) {
	return map[string]func(int, *http.Request) (int, string){
		"/readyz":  always("ok"),
		"/version": always(`{"gitVersion":"v1.36.3"}`),
		"/api":     always(coreDiscovery),
		"/apis":    always(groupDiscovery),
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions": always(crds),
		"/apis/apiregistration.k8s.io/v1/apiservices":             always(apiServices),
		"/api/v1/pods":                always(`{"items":[{},{}]}`),
		"/api/v1/secrets":             always(`{"items":[{}]}`),
		"/apis/shop.example/v1/carts": always(`{"items":[{},{},{}]}`),
	}
}

func query(t *testing.T, fails bool, answers map[string]func(int, *http.Request) (int, string)) (rehearsal.Report, *fakeServer) {
	t.Helper()
	fake := &fakeServer{answers: answers, attempts: map[string]int{}}
	server := httptest.NewTLSServer(fake)
	t.Cleanup(server.Close)
	// A case that succeeds may take long on a busy machine.
	a := &APIServer{URL: server.URL, Token: "secret", ReadyTimeout: time.Minute, ListTimeout: time.Minute}
	if fails {
		a.ReadyTimeout, a.ListTimeout = pollInterval/2, pollInterval/2
	}
	return a.Run(t.Context()), fake
}

func TestHealthyServer(t *testing.T) {
	got, _ := query(t, false, healthy())
	if !got.Ready || got.Version != "v1.36.3" || got.Listed != 3 || got.Objects != 6 || len(got.Failures) > 0 || got.Error != "" {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(got.Skipped, []string{"v1beta1.metrics.k8s.io"}) {
		t.Errorf("skipped %v", got.Skipped)
	}
}

func TestServerThatBecomesReadyLater(t *testing.T) {
	answers := healthy()
	answers["/readyz"] = func(attempt int, _ *http.Request) (int, string) {
		if attempt < 3 {
			return http.StatusInternalServerError, "[+]ping ok\n[-]informer-sync failed: reason withheld\nreadyz check failed"
		}
		return http.StatusOK, "ok"
	}
	if got, _ := query(t, false, answers); !got.Ready || len(got.Checks) > 0 {
		t.Errorf("%+v", got)
	}
}

// The lists of a server that is not ready show what it cannot read.
func TestServerThatIsNotReadyIsListed(t *testing.T) {
	answers := healthy()
	answers["/readyz"] = func(int, *http.Request) (int, string) {
		return http.StatusInternalServerError, "[+]ping ok\n[-]informer-sync failed: reason withheld\n[-]poststarthook/crd-informer-synced failed: not finished\n"
	}
	answers["/api/v1/secrets"] = func(int, *http.Request) (int, string) {
		return http.StatusInternalServerError, `{"kind":"Status","message":"unable to transform key \"/registry/secrets/default/db\""}`
	}
	got, fake := query(t, true, answers)
	if got.Ready || !slices.Equal(got.Checks, []string{"informer-sync", "poststarthook/crd-informer-synced"}) {
		t.Errorf("%+v", got)
	}
	if len(got.Failures) != 1 || got.Failures[0].Resource.Resource != "secrets" || !strings.Contains(got.Failures[0].Message, "unable to transform") || got.Listed != 2 {
		t.Errorf("%+v", got)
	}
	if n := fake.attempts["/api/v1/secrets"]; n > 3 {
		t.Errorf("%d attempts", n)
	}
}

func TestPagesAndExpiredTokens(t *testing.T) {
	answers := healthy()
	answers["/api/v1/pods"] = func(attempt int, r *http.Request) (int, string) {
		switch token := r.URL.Query().Get("continue"); {
		case token == "":
			return http.StatusOK, `{"metadata":{"continue":"next"},"items":[{},{}]}`
		case attempt == 2:
			return http.StatusGone, `{"message":"the provided continue parameter is too old"}`
		default:
			return http.StatusOK, `{"items":[{}]}`
		}
	}
	got, fake := query(t, false, answers)
	if len(got.Failures) > 0 || fake.attempts["/api/v1/pods"] != 4 {
		t.Errorf("%+v, %d attempts", got, fake.attempts["/api/v1/pods"])
	}
}

// A CRD is served some time after the API server is ready.
func TestResourceThatIsServedLater(t *testing.T) {
	answers := healthy()
	answers["/apis/shop.example/v1/carts"] = func(attempt int, _ *http.Request) (int, string) {
		if attempt < 3 {
			return http.StatusNotFound, "404 page not found"
		}
		return http.StatusOK, `{"items":[]}`
	}
	if got, _ := query(t, false, answers); len(got.Failures) > 0 || got.Listed != 3 {
		t.Errorf("%+v", got)
	}
}

func TestResourceThatIsNeverServed(t *testing.T) {
	answers := healthy()
	delete(answers, "/apis/shop.example/v1/carts")
	if got, _ := query(t, true, answers); len(got.Failures) != 1 || got.Failures[0].Resource.String() != "carts.shop.example" {
		t.Errorf("%+v", got)
	}
}

func TestReportIsBounded(t *testing.T) {
	answers := healthy()
	var resources []string
	for i := range rehearsal.MaxFailures + 20 {
		name := fmt.Sprintf("r%d", i)
		resources = append(resources, fmt.Sprintf(`{"resource":%q,"verbs":["list"]}`, name))
		answers["/api/v1/"+name] = func(int, *http.Request) (int, string) { return http.StatusForbidden, strings.Repeat("x", 10_000) }
	}
	answers["/api"] = always(`{"items":[{"metadata":{"name":""},"versions":[{"version":"v1","resources":[` + strings.Join(resources, ",") + `]}]}]}`)
	got, _ := query(t, false, answers)
	text, err := json.Marshal(got)
	if err != nil || len(got.Failures) != rehearsal.MaxFailures || got.MoreFailures != 20 || got.MoreUnknown != 0 || len(text) > 200_000 {
		t.Errorf("%d failures and %d more, of which %d are unknown, %d bytes, %v", len(got.Failures), got.MoreFailures, got.MoreUnknown, len(text), err)
	}
}
