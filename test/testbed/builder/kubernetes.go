package builder

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// kubernetesCommands are the binaries of a Kubernetes release.
var kubernetesCommands = []string{
	"kubeadm", "kubectl", "kubelet", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy",
}

// kubernetes builds the seven commands, and verifies the table of versions with the built kubeadm.
func kubernetes(toolchain string, release versions.Release) goBinaries {
	ldflags := goStrip
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		// kubeadm rejects its own version, "v0.0.0-master+$Format:%H$", unless these are set.
		ldflags += setVariables(pkg,
			"gitVersion="+release.Kubernetes, "gitMajor=1", "gitMinor="+release.Minor(), "gitTreeState=clean")
	}
	var commands []goCommand
	for _, name := range kubernetesCommands {
		commands = append(commands, goCommand{pkg: "k8s.io/kubernetes/cmd/" + name})
	}
	return goBinaries{
		name:        "kubernetes",
		release:     release.Kubernetes,
		toolchain:   toolchain,
		modules:     []goModule{{Path: "k8s.io/kubernetes", Version: release.Kubernetes}},
		staging:     release.Staging(),
		commands:    commands,
		ldflags:     ldflags,
		takes:       9 * time.Minute,
		proofInputs: release.KubeadmImages(),
		proof: func(ctx context.Context, shop *workshop, bin string) error {
			return proveTable(ctx, shop, filepath.Join(bin, "kubeadm"), release)
		},
	}
}

// proveTable compares the images of kubeadm with those of the table.
func proveTable(ctx context.Context, shop *workshop, kubeadm string, release versions.Release) error {
	text, err := shop.output(ctx, command{argv: []string{kubeadm, "config", "images", "list", "--kubernetes-version", release.Kubernetes}})
	if err != nil {
		return fmt.Errorf("listing the images of kubeadm: %w", err)
	}
	return compareImages(release, strings.Fields(text))
}

func compareImages(release versions.Release, kubeadmSays []string) error {
	table := release.KubeadmImages()
	slices.Sort(table)
	theirs := slices.Sorted(slices.Values(kubeadmSays))
	if !slices.Equal(table, theirs) {
		return fmt.Errorf("the versions table is wrong for %s:\n  kubeadm: %s\n  table:   %s",
			release.Kubernetes, strings.Join(theirs, " "), strings.Join(table, " "))
	}
	return nil
}
