package agent

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// hostWith finds parts on a host that has some binaries, each from a package or as a plain file.
func hostWith(t *testing.T, owners map[string]string) partFinder {
	t.Helper()
	dir := t.TempDir()
	for binary := range owners {
		if err := os.WriteFile(filepath.Join(dir, binary), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return partFinder{
		path: func(part refitv1alpha1.Part) (string, error) {
			if _, has := owners["containerd"]; part == refitv1alpha1.PartContainerd && !has {
				return "", node.ManualIntervention(steps.BinaryNotFound, nil, "", "cannot find containerd on this host")
			}
			return filepath.Join(dir, mainBinary[part]), nil
		},
		detect: func(path string) (refitv1alpha1.PackageKind, string, error) {
			if owner := owners[filepath.Base(path)]; owner != "" {
				return refitv1alpha1.PackageDeb, owner, nil
			}
			return refitv1alpha1.PackageBinary, "", nil
		},
	}
}

func TestInstalledParts(t *testing.T) {
	for name, host := range map[string]struct {
		owners map[string]string
		want   []string
	}{
		"from packages, without kubectl and with another runtime": {
			map[string]string{"kubelet": "kubelet", "kubeadm": "kubeadm"}, []string{"kubeadm of kind Deb", "kubelet of kind Deb"},
		},
		"kubelet from a package, containerd from an archive": {
			map[string]string{"kubelet": "kubelet", "containerd": "", "runc": ""}, []string{"kubelet of kind Deb", "containerd of kind Binary", "runc of kind Binary"},
		},
		"runc in the package of containerd": {
			map[string]string{"kubelet": "", "containerd": "containerd.io", "runc": "containerd.io"},
			[]string{"kubelet of kind Binary", "containerd of kind Deb (containerd.io)"},
		},
		"plugins from their package": {
			map[string]string{"kubelet": "kubelet", "loopback": "kubernetes-cni"}, []string{"kubelet of kind Deb", "cni of kind Deb (kubernetes-cni)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			parts, err := hostWith(t, host.owners).all()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, part := range parts {
				got = append(got, node.DescribePart(part))
			}
			if !slices.Equal(got, host.want) {
				t.Errorf("got %v, want %v", got, host.want)
			}
		})
	}
}

func TestHostWithoutAKubeletFails(t *testing.T) {
	if _, err := hostWith(t, nil).all(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestPluginsOfAHost(t *testing.T) {
	for name, host := range map[string]struct {
		owners map[string]string
		want   []string
	}{
		"plain files, with those of a network add-on": {
			map[string]string{"kubelet": "", "loopback": "", "bridge": "", "calico": "", "flannel": ""}, []string{"bridge", "loopback"},
		},
		"from a package, which has them all": {map[string]string{"kubelet": "kubelet", "loopback": "kubernetes-cni", "bridge": "kubernetes-cni"}, nil},
	} {
		parts, err := hostWith(t, host.owners).all()
		if err != nil {
			t.Fatal(err)
		}
		if got := parts[len(parts)-1]; got.Part != refitv1alpha1.PartCNI || !slices.Equal(got.Files, host.want) {
			t.Errorf("%s: %+v, want %v", name, got, host.want)
		}
	}
}
