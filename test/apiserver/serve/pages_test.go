//go:build apiserver && web

package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// TestPages runs web/tests/real in Chromium: the pages that this binary embeds, its HTTP API, and a
// real API server. REFIT_SCREENSHOTS names a folder for pictures of the pages.
func TestPages(t *testing.T) {
	web, err := filepath.Abs("../../../web")
	must(t, err)
	playwright := filepath.Join(web, "node_modules/.bin/playwright")
	if _, err := os.Stat(playwright); err != nil {
		t.Skip("the packages of web/ are not installed: run `make web`")
	}
	c := apart(t)
	c.operation(t, "op")
	for i := range 3 {
		c.node(t, fmt.Sprintf("worker-%d", i+1))
	}
	viewer, operator := c.token(t, "viewer", "refit-viewer"), c.token(t, "operator", "refit-operator")
	s := c.serve(t, t.TempDir()).current(t, viewer)
	control := httptest.NewServer(c.control(t, s))
	t.Cleanup(control.Close)

	cmd := exec.CommandContext(t.Context(), playwright, "test", "--config", "playwright.real.config.ts")
	cmd.Dir = web
	cmd.Env = append(os.Environ(), "REFIT_URL="+s.url, "REFIT_CONTROL="+control.URL, "REFIT_VIEWER="+viewer, "REFIT_OPERATOR="+operator)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	must(t, cmd.Run())
}

// control changes the cluster for the tests of the pages.
func (c *cluster) control(t *testing.T, s *serving) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	var thaw func()
	handle := func(path string, change func(r *http.Request, u *refitv1alpha1.ClusterUpgrade) (any, error)) {
		mux.HandleFunc("POST /"+path, func(w http.ResponseWriter, r *http.Request) {
			out, err := change(r, &refitv1alpha1.ClusterUpgrade{})
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			if text, is := out.(string); is {
				fmt.Fprint(w, text)
				return
			}
			_ = json.NewEncoder(w).Encode(out)
		})
	}
	status := func(r *http.Request, u *refitv1alpha1.ClusterUpgrade, change func(*refitv1alpha1.ClusterUpgradeStatus)) (any, error) {
		if err := c.Get(r.Context(), client.ObjectKey{Name: "op"}, u); err != nil {
			return nil, err
		}
		change(&u.Status)
		return nil, c.Status().Update(r.Context(), u)
	}
	handle("code", func(*http.Request, *refitv1alpha1.ClusterUpgrade) (any, error) { return s.NewCode(), nil })
	handle("spec", func(r *http.Request, u *refitv1alpha1.ClusterUpgrade) (any, error) {
		err := c.Get(r.Context(), client.ObjectKey{Name: "op"}, u)
		return u.Spec, err
	})
	handle("stall", func(r *http.Request, u *refitv1alpha1.ClusterUpgrade) (any, error) {
		return status(r, u, func(s *refitv1alpha1.ClusterUpgradeStatus) {
			s.Phase, s.Nodes.Failed = refitv1alpha1.PhaseStalled, 1
			s.Failures = []refitv1alpha1.Failure{{
				Node: "worker-1", Class: refitv1alpha1.FailureManualIntervention, Step: "swap-kubelet",
				Message: "the kubelet does not become healthy", Remedy: "Remove the flag from /etc/default/kubelet",
			}}
		})
	})
	handle("run", func(r *http.Request, u *refitv1alpha1.ClusterUpgrade) (any, error) {
		return status(r, u, func(s *refitv1alpha1.ClusterUpgradeStatus) {
			s.Phase, s.Nodes.Failed, s.Failures = refitv1alpha1.PhaseRunning, 0, nil
		})
	})
	handle("freeze", func(*http.Request, *refitv1alpha1.ClusterUpgrade) (any, error) {
		thaw = c.Freeze(t, false)
		return nil, nil
	})
	handle("thaw", func(*http.Request, *refitv1alpha1.ClusterUpgrade) (any, error) {
		thaw()
		return nil, nil
	})
	return mux
}
