package builder

import (
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/testbed/versions"
)

func TestNodeImageSpecs(t *testing.T) {
	if ContainerdBuilt != strings.TrimPrefix(versions.Containerd, "v") {
		t.Errorf("ContainerdBuilt is %s, but the table has containerd %s", ContainerdBuilt, versions.Containerd)
	}
	good := NodeImageSpec{Kubernetes: "v1.36.3", Install: InstallDeb, Containerd: ContainerdDebian}
	if err := good.Validate(); err != nil {
		t.Errorf("%+v: %v", good, err)
	}
	for _, bad := range []NodeImageSpec{
		{Kubernetes: "v1.1.1", Install: InstallDeb, Containerd: ContainerdDebian},
		{Kubernetes: "v1.36.3", Install: "snap", Containerd: ContainerdDebian},
		{Kubernetes: "v1.36.3", Install: InstallDeb, Containerd: "1.7"},
	} {
		if bad.Validate() == nil {
			t.Errorf("%+v is taken for good", bad)
		}
	}
}

func TestNodeImagesWithTheSameContainerdShareTheStore(t *testing.T) {
	release, err := versions.Lookup("v1.36.3")
	if err != nil {
		t.Fatal(err)
	}
	p := partsOf("go1.26.8", release)
	roots := map[string]bool{}
	for _, install := range installs {
		for _, containerd := range []string{ContainerdDebian, ContainerdBuilt} {
			spec := NodeImageSpec{Kubernetes: "v1.36.3", Install: install, Containerd: containerd}
			roots[keyOf(nodeRoot{spec: spec, parts: p})] = true
		}
	}
	if len(roots) != 6 {
		t.Errorf("six node images have %d roots", len(roots))
	}
	if keyOf(containerdSeed{kind: ContainerdDebian, parts: p}) == keyOf(containerdSeed{kind: ContainerdBuilt, parts: p}) {
		t.Error("two kinds of containerd share a store")
	}
}

func TestContainerdConfigHasThePauseImageOfTheRelease(t *testing.T) {
	release := versions.Release{Pause: "3.10.2"}
	for kind, version := range map[string]string{ContainerdDebian: "version = 2\n", ContainerdBuilt: "version = 3\n"} {
		config := containerdConfig(kind, release)
		if !strings.HasPrefix(config, version) || !strings.Contains(config, "registry.k8s.io/pause:3.10.2") || strings.Contains(config, "{{") {
			t.Errorf("%s:\n%s", kind, config)
		}
	}
}
