package bed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// filesAt compares the binaries on a host without packages with the release's digests.
func (b *Bed) filesAt(ctx context.Context, n *cluster.Node, r *Release) error {
	is, err := StateOf(ctx, n)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range r.Payload.Files {
		if string(f.Kind) != "Binary" || b.Spec().Install != builder.InstallBinaries {
			continue
		}
		for _, dir := range []string{"/usr/local/bin/", "/opt/cni/bin/"} {
			if digest, there := is[dir+f.Name]; there && "sha256:"+digest != f.Digest {
				errs = append(errs, fmt.Errorf("%s: %s%s is not the release's", n.Name(), dir, f.Name))
			}
		}
	}
	for _, component := range n.StaticPods() {
		if is["/etc/kubernetes/manifests/"+component+".yaml"] == "" {
			errs = append(errs, fmt.Errorf("%s: the manifest of %s is gone", n.Name(), component))
		}
	}
	return errors.Join(errs...)
}

// nothingLeft verifies that there are no partial files and no copies of etcd's data that could be
// mistaken for a backup. Replaced files are kept until the next operation starts.
func nothingLeft(ctx context.Context, n *cluster.Node) error {
	left, err := find(ctx, n, []string{"/etc", "/usr", "/opt/cni", "/var/lib/kubelet", "/var/lib/dpkg"},
		"-xdev", "-name", "*.refit-*", "!", "-name", "*.refit-old")
	if err != nil {
		return err
	}
	copies, err := find(ctx, n, []string{"/etc/kubernetes/tmp"}, "-name", "kubeadm-backup-*")
	if err != nil {
		return err
	}
	// The agent notes each rpm that runs, and a killed one leaves temporary files.
	rpm, err := find(ctx, n, []string{"/var/lib/rpm-state", "/usr/bin", "/opt/cni/bin"}, "-name", "refit-*.json", "-o", "-name", "*;[0-9a-f]*")
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range slices.Concat(left, copies, rpm) {
		if file != "" {
			errs = append(errs, fmt.Errorf("%s: %s was left behind", n.Name(), file))
		}
	}
	return errors.Join(errs...)
}

// packagesClean verifies that the database of the package manager matches the host.
func packagesClean(ctx context.Context, n *cluster.Node) error {
	checks := [][]string{{"dpkg", "--audit"}, {"dpkg", "--verify", "kubeadm", "kubelet", "kubectl", "containerd", "kubernetes-cni", "runc"}}
	if n.Install() == builder.InstallRpm {
		checks = [][]string{{"rpm", "--verify", "kubeadm", "kubelet", "kubectl", "containerd.io", "kubernetes-cni"}}
	}
	var errs []error
	for _, argv := range checks {
		out, err := n.Exec(ctx, argv...)
		if err != nil && n.Install() != builder.InstallRpm && strings.Contains(err.Error(), "is not installed") {
			continue // a host without packages
		}
		var wrong []string
		for line := range Lines(string(out)) {
			if !tolerated(line) {
				wrong = append(wrong, line)
			}
		}
		switch {
		case len(wrong) > 0:
			errs = append(errs, fmt.Errorf("%s: %s reports: %s", n.Name(), strings.Join(argv[:2], " "), strings.Join(wrong, "; ")))
		case err != nil && len(out) == 0:
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// tolerated reports whether a line of dpkg --verify or rpm --verify is about a configuration file,
// which belongs to the host's owner, or about manuals, which the testbed's nodes lack.
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
