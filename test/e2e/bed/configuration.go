package bed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// Configuration is what a ClusterRelease sets in kubeadm's ClusterConfiguration. A test edits the
// argument of the scheduler by hand before.
const Configuration = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
apiServer:
  extraArgs:
  - {name: max-mutating-requests-inflight, value: "210"}
scheduler:
  extraArgs:
  - {name: kube-api-qps, value: "70"}
`

// WriteConfiguration writes Configuration to a file for `refit release create`.
func (b *Bed) WriteConfiguration(t *testing.T) string {
	t.Helper()
	file := filepath.Join(b.Dir, "cluster-configuration.yaml")
	Must(t, os.WriteFile(file, []byte(Configuration), 0o644))
	return file
}

// CreateConfigurationRelease is CreateRelease with Configuration.
func (b *Bed) CreateConfigurationRelease(t *testing.T, version string) *Release {
	t.Helper()
	return b.createRelease(t, "kubernetes-"+version, version, filepath.Join(b.Dir, version), []string{"--cluster-configuration", b.WriteConfiguration(t)})
}

// EditConfiguration sets two arguments in kubeadm's ClusterConfiguration, as an administrator does:
// one that Configuration does not have, and one that it sets to another value.
func (b *Bed) EditConfiguration(t *testing.T) {
	t.Helper()
	all := b.Client.CoreV1().ConfigMaps(metav1.NamespaceSystem)
	config, err := all.Get(t.Context(), "kubeadm-config", metav1.GetOptions{})
	Must(t, err)
	var document map[string]any
	Must(t, yaml.Unmarshal([]byte(config.Data["ClusterConfiguration"]), &document))
	document["apiServer"] = map[string]any{"extraArgs": []any{map[string]any{"name": "max-requests-inflight", "value": "410"}}}
	document["scheduler"] = map[string]any{"extraArgs": []any{map[string]any{"name": "kube-api-qps", "value": "60"}}}
	text, err := yaml.Marshal(document)
	Must(t, err)
	config.Data["ClusterConfiguration"] = string(text)
	_, err = all.Update(t.Context(), config, metav1.UpdateOptions{})
	Must(t, err)
}

// Configured fails unless the manifests of every control plane node and the ClusterConfiguration
// have the arguments of Configuration, except those that were edited by hand.
func (b *Bed) Configured(t *testing.T, edited bool) {
	t.Helper()
	want := map[string]string{"max-mutating-requests-inflight": "210", "kube-api-qps": "70"}
	if edited {
		want["max-requests-inflight"], want["kube-api-qps"] = "410", "60"
	}
	config, err := b.Client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(t.Context(), "kubeadm-config", metav1.GetOptions{})
	Must(t, err)
	for name, value := range want {
		if text := config.Data["ClusterConfiguration"]; !strings.Contains(text, fmt.Sprintf("- name: %s\n    value: %q\n", name, value)) {
			t.Errorf("the ClusterConfiguration lacks %s=%s:\n%s", name, value, text)
		}
	}
	record, err := b.Client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(t.Context(), "refit-cluster-configuration", metav1.GetOptions{})
	Must(t, err)
	if text := record.Data["patch.json"]; !strings.Contains(text, "max-mutating-requests-inflight") || strings.Contains(text, "kube-api-qps") == edited {
		t.Errorf("the record of the patch is %s", text)
	}
	for _, n := range b.Nodes() {
		if n.Role() == cluster.RoleControlPlane {
			Must(t, rendersArguments(t.Context(), n, want))
		}
	}
}

func rendersArguments(ctx context.Context, n *cluster.Node, want map[string]string) error {
	manifests, err := n.Exec(ctx, "cat", "/etc/kubernetes/manifests/kube-apiserver.yaml", "/etc/kubernetes/manifests/kube-scheduler.yaml")
	if err != nil {
		return err
	}
	for name, value := range want {
		if argument := "--" + name + "=" + value; strings.Count(string(manifests), "- "+argument+"\n") != 1 {
			return fmt.Errorf("the manifests of %s do not have %s once", n.Name(), argument)
		}
	}
	return nil
}
