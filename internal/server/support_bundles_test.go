package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
	engine "github.com/refit-dev/refit/internal/engine/supportbundle"
	"github.com/refit-dev/refit/internal/server"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/bundles"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

const bundlePath = "/api/v1alpha1/support-bundles"

// newBundleBed returns a server whose bundles are the token of their caller, once they may end.
func newBundleBed(t *testing.T) (b *bed, end chan error) {
	t.Helper()
	end = make(chan error)
	b = startBed(t, operationstest.NewClient(t, node("cp-1"), upgrade()), t.TempDir(), false, func(o *server.Options) {
		o.CollectBundle = func(ctx context.Context, config *rest.Config, o engine.Options, report func(engine.Progress), to io.Writer) (*cliv1alpha1.SupportBundle, error) {
			report(engine.Progress{Activity: "reads clusterupgrades"})
			report(engine.Progress{Part: &cliv1alpha1.BundlePart{Path: "objects/clusterupgrades.yaml", Source: "clusterupgrades", Bytes: 7}})
			report(engine.Progress{Node: "cp-1", Activity: "reads the journals"})
			select {
			case err := <-end:
				if err != nil {
					return nil, err
				}
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			_, err := fmt.Fprintf(to, "%s %s %d", config.BearerToken, o.Operation, len(o.Patterns))
			return &cliv1alpha1.SupportBundle{Operation: o.Operation, Time: time.Date(2026, 11, 19, 8, 0, 0, 0, time.UTC)}, err
		}
	})
	return b.current(t), end
}

// create starts a bundle of a user.
func (b *bed) createBundle(t *testing.T, token string, body any) (api.SupportBundle, string) {
	t.Helper()
	answer, content := b.send(t, request{method: http.MethodPost, path: bundlePath, token: token, body: body})
	if answer.StatusCode != http.StatusAccepted {
		t.Fatalf("%d %s", answer.StatusCode, content)
	}
	var out api.SupportBundle
	decode(t, content, &out)
	return out, answer.Header.Get("Location")
}

// ended waits until a bundle is not running.
func (b *bed) ended(t *testing.T, location, token string) (out api.SupportBundle) {
	t.Helper()
	b.eventually(t, "the bundle is complete", func() bool {
		out = get[api.SupportBundle](t, b, location, token)
		return out.State != api.Running
	})
	return out
}

func TestASupportBundleIsCollectedWithTheTokenOfItsCaller(t *testing.T) {
	b, end := newBundleBed(t)
	created, location := b.createBundle(t, "viewer", map[string]any{"operation": "op", "redact": []string{"ACME-[0-9]+"}})
	if created.State != api.Running || location != bundlePath+"/"+created.ID {
		t.Errorf("%+v at %s", created, location)
	}
	b.eventually(t, "its progress has the part", func() bool {
		now := get[api.SupportBundle](t, b, location, "viewer")
		return now.Activity == "cp-1 reads the journals" && len(now.Parts) == 1 && now.Parts[0].Source == "clusterupgrades"
	})
	if answer, content := b.send(t, request{path: location + "/file", token: "viewer"}); answer.StatusCode != http.StatusConflict {
		t.Errorf("the file of a running bundle: %d %s", answer.StatusCode, content)
	}
	answer, content := b.send(t, request{method: http.MethodPost, path: bundlePath, token: "approver", body: map[string]any{}})
	if p := problemOf(t, content); answer.StatusCode != http.StatusTooManyRequests || p.Code != problem.TooManyBundles || answer.Header.Get("Retry-After") == "" {
		t.Errorf("a second one: %d %s", answer.StatusCode, content)
	}
	end <- nil
	done := b.ended(t, location, "viewer")
	if done.State != api.Complete || done.Operation != "op" || done.Size == 0 || done.File != "refit-support-bundle-20261119T080000Z.tar.gz" {
		t.Errorf("%+v", done)
	}
	answer, content = b.send(t, request{path: location + "/file", token: "viewer"})
	if answer.StatusCode != http.StatusOK || string(content) != "viewer op 1" || answer.Header.Get("Content-Type") != "application/gzip" ||
		answer.Header.Get("Content-Disposition") != `attachment; filename="`+done.File+`"` {
		t.Errorf("%d %v %s", answer.StatusCode, answer.Header, content)
	}
	for _, path := range []string{location, location + "/file"} {
		if answer, content := b.send(t, request{path: path, token: "approver"}); answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s as another user: %d %s", path, answer.StatusCode, content)
		}
	}
	b.ahead.Add(int64(time.Hour))
	if answer, content := b.send(t, request{path: location + "/file", token: "viewer"}); answer.StatusCode != http.StatusNotFound {
		t.Errorf("after an hour: %d %s", answer.StatusCode, content)
	}
	audited(t, b, "CreateSupportBundle", "GetSupportBundleFile")
}

// audited requires lines of the audit log about a bundle of viewer.
func audited(t *testing.T, b *bed, actions ...string) {
	t.Helper()
	_, content := b.send(t, request{path: "/api/v1alpha1/audit", token: "approver"})
	for _, action := range actions {
		found := false
		var log struct {
			Entries []json.RawMessage `json:"entries"`
		}
		if err := json.Unmarshal(content, &log); err != nil {
			t.Fatal(err)
		}
		for _, entry := range log.Entries {
			found = found || bytes.Contains(entry, []byte(`"action":"`+action+`"`)) && bytes.Contains(entry, []byte(`"user":"viewer"`)) && bytes.Contains(entry, []byte(`"object":"`))
		}
		if !found {
			t.Errorf("the audit log has no %s with its bundle: %s", action, content)
		}
	}
}

func TestASupportBundleThatFailsHasItsProblem(t *testing.T) {
	b, end := newBundleBed(t)
	for _, c := range []struct {
		err    error
		code   string
		status int
	}{
		{fmt.Errorf("cannot write: %w", bundles.ErrNoSpace), problem.NoSpace, http.StatusInsufficientStorage},
		{fmt.Errorf("%w: forbidden", supportbundle.ErrEmpty), problem.BundleFailed, http.StatusBadGateway},
		{fmt.Errorf("secret-detail"), problem.BundleFailed, http.StatusBadGateway},
	} {
		_, location := b.createBundle(t, "viewer", map[string]any{})
		end <- c.err
		failed := b.ended(t, location, "viewer")
		if failed.State != api.Failed || failed.Error.Code != c.code || failed.Error.Status != c.status || failed.Error.Remedy == "" || strings.Contains(failed.Error.Detail, "secret-detail") {
			t.Errorf("%v: %+v", c.err, failed)
		}
		if answer, content := b.send(t, request{path: location + "/file", token: "viewer"}); answer.StatusCode != c.status {
			t.Errorf("%v: the file: %d %s", c.err, answer.StatusCode, content)
		}
	}
}

func TestInvalidRequestsForSupportBundles(t *testing.T) {
	b, _ := newBundleBed(t)
	many := make([]string, 21)
	for i := range many {
		many[i] = "n"
	}
	for _, c := range []struct {
		body    any
		pointer string
	}{
		{map[string]any{"operation": "../x"}, "#/operation"},
		{map[string]any{"nodes": many}, "#/nodes"},
		{map[string]any{"redact": many}, "#/redact"},
		{map[string]any{"redact": []string{"a", "("}}, "#/redact/1"},
		{map[string]any{"redact": []string{strings.Repeat("a", 257)}}, "#/redact/0"},
	} {
		answer, content := b.send(t, request{method: http.MethodPost, path: bundlePath, token: "viewer", body: c.body})
		if p := problemOf(t, content); answer.StatusCode != http.StatusUnprocessableEntity || len(p.Errors) != 1 || p.Errors[0].Pointer != c.pointer {
			t.Errorf("%v: %d %s", c.body, answer.StatusCode, content)
		}
	}
	if answer, _ := b.send(t, request{method: http.MethodPost, path: bundlePath, token: "nobody", body: map[string]any{}}); answer.StatusCode != http.StatusForbidden {
		t.Errorf("without permissions: %d", answer.StatusCode)
	}
	b.down.Store(true)
	b.eventually(t, "the outage is known", func() bool {
		answer, _ := b.send(t, request{method: http.MethodPost, path: bundlePath, token: "viewer", body: map[string]any{}})
		return answer.StatusCode == http.StatusServiceUnavailable
	})
}

func TestABundleHasTheVersionOfRefit(t *testing.T) {
	limits := supportbundle.DefaultLimits()
	index, _ := server.CollectBundleOf(t.Context(), "v1.2.3", &rest.Config{Host: "https://127.0.0.1:1"}, engine.Options{Limits: limits})
	if index == nil || index.Version != "v1.2.3" || index.Cluster != "test" {
		t.Errorf("the index is %+v", index)
	}
}
