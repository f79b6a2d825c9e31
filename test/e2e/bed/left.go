package bed

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// NothingLeft fails if anything of Refit is left in the cluster or on a host, except for backups,
// the namespace of their credentials, and what the last ClusterRelease has set for kubeadm.
func (s *Site) NothingLeft(t *testing.T) {
	t.Helper()
	for _, kinds := range []string{
		"customresourcedefinitions,namespaces,clusterroles,clusterrolebindings", "validatingadmissionpolicies,validatingadmissionpolicybindings",
		"pods,services,roles,rolebindings,configmaps,secrets,leases",
	} {
		out, err := s.Kubectl(t.Context(), nil, "get", kinds, "--all-namespaces", "--output=name")
		Must(t, err)
		for name := range strings.FieldsSeq(string(out)) {
			if strings.Contains(name, "refit") && name != "namespace/refit-backup" && name != "configmap/refit-cluster-configuration" {
				t.Errorf("%s is left in the cluster", name)
			}
		}
	}
	OnNodes(t, s.Nodes(), hostClean)
}

// hostClean returns an error if files of Refit are left on a host. Replaced files are kept beside
// the new ones until the next upgrade, and are removed with the agent. Backups stay.
func hostClean(ctx context.Context, n *cluster.Node) error {
	left, err := n.Exec(ctx, "find", "/etc", "/usr", "/opt", "/var/lib", "/run", "-xdev", "-name", "*refit*", "-not", "-name", "refit-backups",
		"-not", "-path", "/var/lib/containerd/*", "-not", "-path", "/var/lib/kubelet/pods/*") // images and pod directories belong to the kubelet
	errs := []error{err}
	for path := range strings.FieldsSeq(string(left)) {
		errs = append(errs, fmt.Errorf("%s is left on %s", path, n.Name()))
	}
	if out, err := n.Exec(ctx, "systemctl", "is-active", "refit-agent"); err == nil {
		errs = append(errs, fmt.Errorf("the agent of %s is %s", n.Name(), strings.TrimSpace(string(out))))
	}
	return errors.Join(errs...)
}
