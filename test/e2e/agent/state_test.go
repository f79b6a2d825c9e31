//go:build e2e

package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// state is what an upgrade leaves on a host: the digest of each file that it may touch, and what the package database says.
type state map[string]string

// watched are the files and folders of a host whose content an upgrade decides. Certificates and kubeconfigs are new each time and only named.
var watched = []string{
	"/etc/kubernetes/manifests", "/etc/systemd/system", "/etc/containerd", "/etc/cni", "/etc/default/kubelet",
	"/usr/local/bin", "/usr/local/lib/systemd", "/lib/systemd/system/containerd.service", "/lib/systemd/system/kubelet.service", "/opt/cni/bin",
	"/usr/bin/kubeadm", "/usr/bin/kubelet", "/usr/bin/kubectl", "/usr/bin/containerd", "/usr/bin/containerd-shim-runc-v2", "/usr/bin/ctr", "/usr/sbin/runc",
	"/var/lib/kubelet/config.yaml", "/var/lib/kubelet/instance-config.yaml", "/var/lib/kubelet/kubeadm-flags.env",
}

// ours are the agent's own files among them.
var ours = []string{agentProgram, "/etc/systemd/system/refit-agent.service", "/etc/systemd/system/refit-agent.service.d/quick.conf"}

// stateOf reads the state of a host.
func stateOf(ctx context.Context, n *cluster.Node) (state, error) {
	s := state{}
	digests, err := find(ctx, n, watched, "-type", "f", "-exec", "sha256sum", "{}", "+")
	if err != nil {
		return nil, err
	}
	for _, line := range digests {
		digest, file, ok := strings.Cut(line, "  ")
		if ok && !slices.Contains(ours, file) && !strings.Contains(file, ".refit-") {
			s[file] = digest
		}
	}
	named, err := find(ctx, n, []string{"/etc/kubernetes"}, "-type", "f")
	if err != nil {
		return nil, err
	}
	for _, file := range named {
		if _, there := s[file]; !there && !strings.Contains(file, ".refit-") && !strings.HasPrefix(file, "/etc/kubernetes/tmp/") {
			s[file] = "(there)"
		}
	}
	packages, err := n.Exec(ctx, "dpkg-query", "--show", "--showformat=${Package} ${Version} ${Status}\n")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(packages)) {
		name, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		s["package "+name] = version
	}
	return s, nil
}

// find runs find in folders that may not be there.
func find(ctx context.Context, n *cluster.Node, in []string, expression ...string) ([]string, error) {
	out, err := n.Exec(ctx, slices.Concat([]string{"find"}, in, expression)...)
	if err != nil && !strings.Contains(err.Error(), "No such file or directory") {
		return nil, err
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n"), nil
}

// differences tells in what two states differ.
func (s state) differences(other state) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(union(s, other))) {
		if s[name] != other[name] {
			errs = append(errs, fmt.Errorf("%s is %q, want %q", name, short(s[name]), short(other[name])))
		}
	}
	return errors.Join(errs...)
}

func union(a, b state) state {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

func short(digest string) string { return digest[:min(len(digest), 24)] }

// atRelease tells what of a node is not as the release says, asked of the host itself and of the API.
func (b *bed) atRelease(ctx context.Context, n *cluster.Node, r *release) error {
	return errors.Join(
		b.nodeAt(ctx, n, r.parts.Kubernetes),
		b.podsAt(ctx, n, r.parts),
		b.filesAt(ctx, n, r),
		nothingLeft(ctx, n),
		packagesClean(ctx, n),
	)
}

// nodeAt asks the API of which version a node is.
func (b *bed) nodeAt(ctx context.Context, n *cluster.Node, version string) error {
	node, err := b.client.CoreV1().Nodes().Get(ctx, n.Name(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	if at := node.Status.NodeInfo.KubeletVersion; at != version || !cluster.NodeReady(*node) || node.Spec.Unschedulable {
		return fmt.Errorf("%s is at %s, ready %t, cordoned %t", n.Name(), at, cluster.NodeReady(*node), node.Spec.Unschedulable)
	}
	return nil
}

// podsAt looks at the static pods of a control plane node and its kube-proxy.
func (b *bed) podsAt(ctx context.Context, n *cluster.Node, parts builder.Release) error {
	want := map[string]string{}
	for _, image := range parts.KubeadmImages() {
		want[nameOf(image)] = image
	}
	pods, err := b.client.CoreV1().Pods(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + n.Name()})
	if err != nil {
		return err
	}
	var errs []error
	seen := map[string]bool{}
	for _, p := range pods.Items {
		image := p.Spec.Containers[0].Image
		name := nameOf(image)
		if name == "coredns" || p.DeletionTimestamp != nil || want[name] == "" {
			continue
		}
		seen[name] = true
		if image != want[name] || !podReady(p) {
			errs = append(errs, fmt.Errorf("pod %s is of %s, want %s, ready: %t", p.Name, image, want[name], podReady(p)))
		}
	}
	parted := []string{"kube-proxy"}
	if n.Role() == cluster.RoleControlPlane {
		parted = append(parted, "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
	}
	for _, name := range parted {
		if !seen[name] {
			errs = append(errs, fmt.Errorf("no pod of %s is on %s", name, n.Name()))
		}
	}
	return errors.Join(errs...)
}

func podReady(p corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// nameOf is kube-apiserver of registry.k8s.io/kube-apiserver:v1.36.3.
func nameOf(image string) string {
	name, _, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return name
}

// filesAt compares the programs on a host of plain binaries with the release's digests.
func (b *bed) filesAt(ctx context.Context, n *cluster.Node, r *release) error {
	is, err := stateOf(ctx, n)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range r.payload.Files {
		if string(f.Kind) != "Binary" || b.Spec().Install != builder.InstallBinaries {
			continue
		}
		for _, dir := range []string{"/usr/local/bin/", "/opt/cni/bin/"} {
			if digest, there := is[dir+f.Name]; there && "sha256:"+digest != f.Digest {
				errs = append(errs, fmt.Errorf("%s: %s%s is not the release's", n.Name(), dir, f.Name))
			}
		}
	}
	if n.Role() == cluster.RoleControlPlane {
		for _, component := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"} {
			if is["/etc/kubernetes/manifests/"+component+".yaml"] == "" {
				errs = append(errs, fmt.Errorf("%s: the manifest of %s is gone", n.Name(), component))
			}
		}
	}
	return errors.Join(errs...)
}

// nothingLeft sees that no half-done file lies about, and no copy of etcd's data that somebody could take for a backup. What was replaced is kept until the
// next work begins.
func nothingLeft(ctx context.Context, n *cluster.Node) error {
	left, err := find(ctx, n, []string{"/etc", "/usr", "/opt/cni", "/var/lib/kubelet", "/var/lib/dpkg"}, "-xdev", "-name", "*.refit-*", "!", "-name", "*.refit-old")
	if err != nil {
		return err
	}
	copies, err := find(ctx, n, []string{"/etc/kubernetes/tmp"}, "-name", "kubeadm-backup-*")
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range slices.Concat(left, copies) {
		if file != "" {
			errs = append(errs, fmt.Errorf("%s: %s was left behind", n.Name(), file))
		}
	}
	return errors.Join(errs...)
}

// packagesClean asks dpkg whether its database is true.
func packagesClean(ctx context.Context, n *cluster.Node) error {
	var errs []error
	for _, argv := range [][]string{{"dpkg", "--audit"}, {"dpkg", "--verify", "kubeadm", "kubelet", "kubectl", "containerd", "kubernetes-cni", "runc"}} {
		out, err := n.Exec(ctx, argv...)
		if err != nil && strings.Contains(err.Error(), "is not installed") {
			continue // a host of plain binaries
		}
		var wrong []string
		for line := range lines(string(out)) {
			if !tolerated(line) {
				wrong = append(wrong, line)
			}
		}
		switch {
		case len(wrong) > 0:
			errs = append(errs, fmt.Errorf("%s: %s says: %s", n.Name(), strings.Join(argv[:2], " "), strings.Join(wrong, "; ")))
		case err != nil && len(out) == 0:
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// tolerated tells of a line of dpkg --verify whether it is about a configuration file, which belongs to the host's owner, or about manuals, which the testbed's
// nodes do without.
func tolerated(line string) bool {
	fields := strings.Fields(line)
	if len(fields) == 3 && fields[1] == "c" {
		return true
	}
	for _, manuals := range []string{"doc", "man", "lintian", "bash-completion", "locale"} {
		if strings.HasPrefix(fields[len(fields)-1], "/usr/share/"+manuals+"/") || fields[len(fields)-1] == "/usr/share/"+manuals {
			return true
		}
	}
	return false
}
