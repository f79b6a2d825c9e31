package bed

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// State is the result of an upgrade on a host: the digest of each file that an upgrade may change,
// and the content of the package database.
type State map[string]string

// Present is the state of a file whose content does not count.
const Present = "(present)"

// watched are the files and directories whose content an upgrade determines. Certificates and
// kubeconfigs differ each time, so only their names count.
var watched = []string{
	"/etc/kubernetes/manifests", "/etc/systemd/system", "/etc/containerd", "/etc/cni", "/etc/default/kubelet",
	"/etc/sysconfig/kubelet", "/etc/dnf/plugins/versionlock.list",
	"/usr/local/bin", "/usr/local/lib/systemd", "/lib/systemd/system/containerd.service",
	"/lib/systemd/system/kubelet.service", "/lib/systemd/system/kubelet.service.d", "/opt/cni/bin",
	"/usr/bin/kubeadm", "/usr/bin/kubelet", "/usr/bin/kubectl", "/usr/bin/containerd", "/usr/bin/containerd-shim-runc-v2", "/usr/bin/ctr",
	"/usr/sbin/runc", "/usr/bin/runc",
	"/var/lib/kubelet/config.yaml", "/var/lib/kubelet/instance-config.yaml", "/var/lib/kubelet/kubeadm-flags.env",
}

// ours are the agent's own files among them.
var ours = []string{AgentBinary, "/etc/systemd/system/refit-agent.service", "/etc/systemd/system/refit-agent.service.d/quick.conf"}

// StateOf reads the state of a host.
func StateOf(ctx context.Context, n *cluster.Node) (State, error) {
	s := State{}
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
			s[file] = Present
		}
	}
	packages, err := packagesOn(ctx, n)
	for name, version := range packages {
		s["package "+name] = version
	}
	return s, err
}

// packagesOn returns the versions of the packages on a host, all of them if rpm has several.
func packagesOn(ctx context.Context, n *cluster.Node) (map[string]string, error) {
	argv := []string{"dpkg-query", "--show", "--showformat=${Package} ${Version} ${Status}\n"}
	if n.Install() == builder.InstallRpm {
		argv = []string{"rpm", "--query", "--all", "--queryformat", "%{NAME} %{VERSION}-%{RELEASE}\n"}
	}
	out, err := n.Exec(ctx, argv...)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for line := range Lines(string(out)) {
		name, version, _ := strings.Cut(line, " ")
		found[name] = strings.TrimSpace(found[name] + " " + version)
	}
	return found, nil
}

// find runs find in directories that may not exist.
func find(ctx context.Context, n *cluster.Node, in []string, expression ...string) ([]string, error) {
	out, err := n.Exec(ctx, slices.Concat([]string{"find"}, in, expression)...)
	if err != nil && !strings.Contains(err.Error(), "No such file or directory") {
		return nil, err
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n"), nil
}

// Differences returns the differences between two states as an error.
func (s State) Differences(other State) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(union(s, other))) {
		if s[name] != other[name] {
			errs = append(errs, fmt.Errorf("%s is %q, want %q", name, short(s[name]), short(other[name])))
		}
	}
	return errors.Join(errs...)
}

func union(a, b State) State {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

func short(digest string) string { return digest[:min(len(digest), 24)] }
