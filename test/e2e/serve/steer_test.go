//go:build e2e

package serve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/versions"
)

const (
	// extraFlags is the file with the host owner's own kubelet flags.
	extraFlags = "/etc/systemd/system/kubelet.service.d/20-extra.conf"

	never = `{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: never, namespace: shop}, spec: {replicas: 1, selector: {matchLabels: {app: never}},
	template: {metadata: {labels: {app: never}}, spec: {terminationGracePeriodSeconds: 1,
		containers: [{name: main, image: "` + versions.BusyboxImage + `", imagePullPolicy: Never, command: [sleep, "36000"]}]}}}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: never, namespace: shop},
	spec: {maxUnavailable: 0, selector: {matchLabels: {app: never}}}}`
)

// TestServeSteers starts an upgrade in the browser with a waiver, lets a blocked drain continue,
// pauses, resumes and approves there, and retries a worker whose kubelet did not start.
func TestServeSteers(t *testing.T) {
	s := bed.NewSite(t, cluster.Spec{Name: "steer", Kubernetes: bed.Older, Workers: 1}, false)
	s.Install(t)
	s.CreateRelease(t, bed.Newer)
	blockDrains(t, s)
	url, worker := start(t, s, s.First(cluster.RoleControlPlane)), s.First(cluster.RoleWorker)
	control := httptest.NewServer(faults(t, s, worker))
	t.Cleanup(control.Close)

	steer(t, "steer", "REFIT_URL="+url, "REFIT_TOKEN="+approver(t, s), "REFIT_WORKER="+worker.Name(), "REFIT_CONTROL="+control.URL)
	succeeds(t, s)
	s.NoCordonLeft(t)
}

// TestServeStops pauses, resumes and aborts an upgrade in each of its stages on its page. The drain
// of the worker is blocked meanwhile. Support bundles of the cluster have what is left of it.
func TestServeStops(t *testing.T) {
	s := bed.NewSite(t, cluster.Spec{Name: "stops", Kubernetes: bed.Older, Workers: 1}, false)
	s.Install(t)
	s.CreateRelease(t, bed.Newer)
	blockDrains(t, s)
	url := start(t, s, s.First(cluster.RoleControlPlane))
	steer(t, "stages", "REFIT_URL="+url, "REFIT_TOKEN="+approver(t, s), "REFIT_WORKER="+s.First(cluster.RoleWorker).Name())
	s.NoCordonLeft(t)
	phases, err := s.Kubectl(t.Context(), nil, "get", "clusterupgrades", "--output=jsonpath={.items[*].status.phase}")
	bed.Must(t, err)
	if got := strings.Fields(string(phases)); len(got) != 5 || slices.ContainsFunc(got, func(phase string) bool { return phase != string(refitv1alpha1.PhaseAborted) }) {
		t.Errorf("the phases of the upgrades are %v", got)
	}
	bundles(t, s, s.First(cluster.RoleWorker))
}

// blockDrains runs a pod that no drain may evict.
func blockDrains(t *testing.T, s *bed.Site) {
	t.Helper()
	_, err := s.Kubectl(t.Context(), strings.NewReader(never), "apply", "--filename=-")
	bed.Must(t, err)
	_, err = s.Kubectl(t.Context(), nil, "--namespace=shop", "rollout", "status", "deployment/never", "--timeout=3m")
	bed.Must(t, err)
}

// steer runs the Playwright tests of a configuration in web/ to their end.
func steer(t *testing.T, config string, env ...string) {
	t.Helper()
	web, err := filepath.Abs("../../../web")
	bed.Must(t, err)
	cmd := exec.CommandContext(t.Context(), filepath.Join(web, "node_modules/.bin/playwright"), "test", "--config", "playwright."+config+".config.ts")
	cmd.Dir, cmd.Stdout, cmd.Stderr = web, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Env = append(append(os.Environ(), "REFIT_VERSION="+bed.Newer), env...)
	bed.Must(t, cmd.Run())
}

// faults changes the worker when the browser asks for it.
func faults(t *testing.T, s *bed.Site, worker *cluster.Node) http.Handler {
	t.Helper()
	ctx := t.Context()
	var changing sync.WaitGroup
	t.Cleanup(changing.Wait)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /break", func(http.ResponseWriter, *http.Request) {
		changing.Go(func() { // a flag that the new kubelet does not have, set while the host changes
			s.AwaitApplying(t, worker)
			if err := bed.WriteOn(ctx, worker, extraFlags, "[Service]\nEnvironment=\"KUBELET_EXTRA_ARGS=--pod-infra-container-image=pause:3.10\"\n"); err != nil {
				t.Error(err)
			}
		})
	})
	mux.HandleFunc("POST /repair", func(w http.ResponseWriter, _ *http.Request) {
		for _, argv := range [][]string{{"rm", extraFlags}, {"systemctl", "daemon-reload"}} {
			if _, err := worker.Exec(context.WithoutCancel(ctx), argv...); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		}
	})
	return mux
}
