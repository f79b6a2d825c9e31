package server_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

const checksPath = "/api/v1alpha1/checks"

// to is a request for an upgrade to a version.
func to(version string) refitv1alpha1.ClusterUpgradeSpec {
	return refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: version}}
}

// ready is a cluster that nothing prevents from being upgraded.
func ready() *cluster.Snapshot {
	return clustertest.HA("v1.35.4", 3, 2, clustertest.Agents(), clustertest.Released("v1.36.3"))
}

// waiting is the header of a client that waits for a check.
var waiting = http.Header{"Prefer": {"respond-async, wait=20"}}

func TestACheckHasAReportAndAManifest(t *testing.T) {
	b := newBed(t, node("cp-1")).observing(ready).current(t)
	admin := b.admin(t)
	answer, body := b.send(t, request{method: http.MethodPost, path: checksPath, cookie: admin, body: to("1.36.3"), header: waiting})
	var check api.Check
	decode(t, body, &check)
	if answer.StatusCode != http.StatusOK || check.State != api.Complete || check.Report.Blocked || check.Report.Plan == nil ||
		check.Spec.Target.Kubernetes != "v1.36.3" || answer.Header.Get("Location") != checksPath+"/"+check.ID {
		t.Fatalf("%d: %+v", answer.StatusCode, check)
	}
	if answer, _ = b.send(t, request{path: answer.Header.Get("Location"), cookie: admin}); answer.StatusCode != http.StatusOK {
		t.Errorf("status is %d", answer.StatusCode)
	}
	answer, body = b.send(t, request{path: checksPath + "/" + check.ID + "/manifest", cookie: admin})
	if answer.Header.Get("Content-Type") != "application/yaml" || !strings.Contains(string(body), "name: to-v1-36-3") {
		t.Errorf("the manifest is %s", body)
	}
	for _, path := range []string{"", "/manifest"} {
		if answer, _ := b.send(t, request{path: checksPath + "/" + check.ID + path, token: "viewer"}); answer.StatusCode != http.StatusNotFound {
			t.Errorf("another user gets %d", answer.StatusCode)
		}
	}
}

func TestAnInvalidRequestNamesItsFields(t *testing.T) {
	b := newBed(t, node("cp-1")).observing(ready).current(t)
	admin := b.admin(t)
	for situation, c := range map[string]struct {
		body    any
		pointer string
	}{
		"no target":                {to(""), "#/target"},
		"no version":               {to("latest"), "#/target/kubernetes"},
		"a downgrade":              {to("v1.34.1"), "#/target"},
		"a misspelled field":       {map[string]any{"target": map[string]any{"kubernetes": "v1.36.3"}, "pools": []any{map[string]any{"nam": "a"}}}, "#/pools/0/nam"},
		"a field of another type":  {map[string]any{"target": "v1.36.3"}, "#/target"},
		"a paused upgrade":         {map[string]any{"target": map[string]any{"kubernetes": "v1.36.3"}, "paused": true}, "#"},
		"a canary larger than all": {map[string]any{"target": map[string]any{"kubernetes": "v1.36.3"}, "pools": []any{map[string]any{"name": "default", "canary": map[string]any{"nodes": 9}}}}, "#/pools"},
	} {
		t.Run(situation, func(t *testing.T) {
			answer, body := b.send(t, request{method: http.MethodPost, path: checksPath, cookie: admin, body: c.body, header: waiting})
			p := problemOf(t, body)
			if answer.StatusCode != http.StatusUnprocessableEntity || p.Code != problem.Invalid || len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer {
				t.Errorf("%d %s", answer.StatusCode, body)
			}
		})
	}
}

func TestChecksAreLimitedAndReportTheirFailure(t *testing.T) {
	b := newBed(t, node("cp-1"))
	proceed := make(chan struct{})
	b.observe = func(ctx context.Context, _ *rest.Config, part func(string)) (*cluster.Snapshot, error) {
		part("pods")
		select {
		case <-proceed:
			return nil, errors.New("pods: no route to host")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	admin := b.current(t).admin(t)
	var running api.Check
	for range 2 {
		answer, body := b.send(t, request{method: http.MethodPost, path: checksPath, cookie: admin, body: to("v1.36.3")})
		if decode(t, body, &running); answer.StatusCode != http.StatusAccepted || running.State != api.Running {
			t.Fatalf("%d %s", answer.StatusCode, body)
		}
	}
	answer, body := b.send(t, request{method: http.MethodPost, path: checksPath, cookie: admin, body: to("v1.36.3")})
	if answer.StatusCode != http.StatusTooManyRequests || problemOf(t, body).Code != problem.TooManyChecks || answer.Header.Get("Retry-After") == "" {
		t.Errorf("a third check: %d %s", answer.StatusCode, body)
	}
	close(proceed)
	_, body = b.send(t, request{path: checksPath + "/" + running.ID, cookie: admin, header: waiting})
	var failed api.Check
	decode(t, body, &failed)
	if failed.State != api.Failed || failed.Error.Code != problem.CheckFailed || !strings.Contains(failed.Error.Detail, "no route to host") {
		t.Errorf("the check is %s", body)
	}
	if answer, body := b.send(t, request{method: http.MethodPost, path: checksPath, cookie: admin, body: to("v1.36.3"), header: waiting}); answer.StatusCode != http.StatusBadGateway {
		t.Errorf("a check that fails while the client waits: %d %s", answer.StatusCode, body)
	}
}
