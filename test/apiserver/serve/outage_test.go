//go:build apiserver

package serve

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/test/testbed/figure"
)

var schemaOfEvent = map[string]string{
	"hello": "Hello", "state": "State", "operation": "OperationAnswer", "nodes": "NodeChanges", "api": "APIServer", "heartbeat": "Heartbeat",
}

// TestAnAPIServerThatHangsIsReported freezes the API server, and then its etcd. The stream reports
// each outage and its end; an admitted session keeps reading; writes fail; events match their
// schemas.
func TestAnAPIServerThatHangsIsReported(t *testing.T) {
	const most, back = 3 * time.Second, 2 * time.Second
	c := apart(t)
	c.operation(t, "op")
	c.node(t, "worker-1")
	viewer, operator := c.token(t, "viewer", "refit-viewer"), c.token(t, "operator", "refit-operator")
	s := c.serve(t, t.TempDir()).current(t, viewer)
	session := s.signIn(t, api.SignIn{Token: operator})
	if answer, body := s.send(t, request{path: prefix + "state", cookie: session}); answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", answer.StatusCode, body)
	}
	schemaOf := compile(t)
	events := s.follow(t, request{cookie: session})
	link := func(reachable bool) func(event) bool {
		return func(e event) bool {
			validate(t, schemaOf("#/components/schemas/"+schemaOfEvent[e.kind]), []byte(e.data))
			var out api.APIServer
			return e.kind == "api" && json.Unmarshal([]byte(e.data), &out) == nil && out.Reachable == reachable
		}
	}
	for _, part := range []string{"apiserver", "etcd"} {
		thaw := c.Freeze(t, part == "etcd")
		begun := time.Now()
		until(t, events, "unreachable", link(false))
		took := time.Since(begun)
		must(t, figure.Print("serve_frozen_"+part, took.Seconds(), "s"))
		if took > most {
			t.Errorf("%s: reported after %s", part, took)
		}
		answer, body := s.send(t, request{path: prefix + "state", cookie: session})
		var state api.State
		must(t, json.Unmarshal(body, &state))
		if answer.StatusCode != http.StatusOK || state.Source != api.LastKnown || state.ObservedAt.After(begun) || state.Operation.Name != "op" {
			t.Errorf("%s: %d %s", part, answer.StatusCode, body)
		}
		begun = time.Now()
		answer, body = s.send(t, request{method: http.MethodPost, path: prefix + "operations/op/pause", cookie: session})
		if answer.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), "api-unreachable") || answer.Header.Get("Retry-After") == "" || time.Since(begun) > time.Second {
			t.Errorf("%s: a write: %d %s after %s", part, answer.StatusCode, body, time.Since(begun))
		}
		thaw()
		begun = time.Now()
		until(t, events, "reachable", link(true))
		took = time.Since(begun)
		must(t, figure.Print("serve_thawed_"+part, took.Seconds(), "s"))
		if took > back {
			t.Errorf("%s: its end was reported after %s", part, took)
		}
		s.current(t, viewer)
	}
}

// TestARestartDuringAnOutage stops the API server, then the server. The next one shows the last
// known state with its age.
func TestARestartDuringAnOutage(t *testing.T) {
	c := apart(t)
	c.operation(t, "op")
	c.node(t, "worker-1")
	viewer, directory := c.token(t, "viewer", "refit-viewer"), t.TempDir()
	first := c.serve(t, directory).current(t, viewer)
	c.Stop(t)
	first.stop()
	down := time.Now()
	s := c.serve(t, directory)
	session := s.signIn(t, api.SignIn{Code: s.NewCode()})
	answer, body := s.send(t, request{path: prefix + "state", cookie: session})
	var state api.State
	must(t, json.Unmarshal(body, &state))
	if answer.StatusCode != http.StatusOK || state.Source != api.LastKnown || state.ObservedAt.After(down) || state.ObservedAt.IsZero() || state.Operation.Name != "op" || state.Nodes.Total != 1 {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
	if answer, body := s.send(t, request{path: "/readyz"}); answer.StatusCode != http.StatusOK {
		t.Errorf("readyz: %d %s", answer.StatusCode, body)
	}
	for _, name := range []string{"last-known.json", "audit.jsonl"} {
		content, err := os.ReadFile(filepath.Join(directory, name))
		if must(t, err); strings.Contains(string(content), "canary") || strings.Contains(string(content), viewer) {
			t.Errorf("%s has a secret", name)
		}
	}
	c.Restart(t)
	s.current(t, viewer)
}

// TestRequestsOfOtherSites sends what a page of an attacker would.
func TestRequestsOfOtherSites(t *testing.T) {
	c := shared(t)
	viewer := c.token(t, "viewer", "refit-viewer")
	s := c.serve(t, t.TempDir())
	for situation, r := range map[string]struct {
		request
		want int
	}{
		"cross-site write": {request{method: http.MethodDelete, path: prefix + "session", token: viewer, header: http.Header{"Sec-Fetch-Site": {"cross-site"}}}, 403},
		"another origin":   {request{method: http.MethodDelete, path: prefix + "session", token: viewer, header: http.Header{"Origin": {"https://attacker.example"}}}, 403},
		"oversized body":   {request{method: http.MethodPost, path: prefix + "session", body: `{"token":"` + strings.Repeat("x", 300<<10) + `"}`}, 413},
	} {
		if answer, body := s.send(t, r.request); answer.StatusCode != r.want {
			t.Errorf("%s: %d %s", situation, answer.StatusCode, body)
		}
	}
	rebound, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+prefix+"state", http.NoBody)
	must(t, err)
	rebound.Host = "attacker.example"
	rebound.Header.Set("Authorization", "Bearer "+viewer)
	answer, err := s.client.Do(rebound)
	must(t, err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("DNS rebinding: %d", answer.StatusCode)
	}
}
