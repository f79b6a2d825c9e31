//go:build apiserver

package api

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/apiserver"
)

// TestKubectl runs the kubectl commands that users and pipelines run.
func TestKubectl(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		made(t, s, changed(t, smallest("ClusterUpgrade", "done"), condition()))
		made(t, s, changed(t, smallest("ClusterUpgrade", "stalled"), fields{
			"status.conditions": list{
				object{"type": "Ready", "status": "False", "reason": "NodeFailed", "message": "n1 failed", "lastTransitionTime": now},
				object{"type": "Stalled", "status": "True", "reason": "NodeFailed", "message": "n1 failed", "lastTransitionTime": now},
			},
		}))
		kubeconfig := s.Kubeconfig(t, s.RESTConfig())
		kubectl := func(arguments ...string) (string, error) {
			out, err := exec.CommandContext(t.Context(), s.Kubectl(), append([]string{"--kubeconfig", kubeconfig}, arguments...)...).CombinedOutput()
			return string(out), err
		}
		for _, tt := range []struct {
			arguments string
			says      string
			fails     bool
		}{
			{"get refit", "clusterupgrade.refit.dev/done", false},
			{"get cup", "READY", false},
			{"explain clusterupgrade.spec.pools.drain.onBlocked", "keep waiting", false},
			{"wait --for=condition=Ready --timeout=5s cu/done", "condition met", false},
			{"wait --for=condition=Stalled --timeout=5s cu/stalled", "condition met", false},
			{"wait --for=condition=Ready --timeout=1s cu/stalled", "timed out", true},
			{"annotate cu/done a=b", "annotated", false},
			{"patch cu done --type=merge --patch={\"spec\":{\"target\":{\"kubernetes\":\"v1.37.1\"}}}", "target cannot be changed", true},
		} {
			out, err := kubectl(strings.Fields(tt.arguments)...)
			if (err != nil) != tt.fails || !strings.Contains(out, tt.says) {
				t.Errorf("kubectl %s: %v\n%s", tt.arguments, err, out)
			}
		}
	})
}
