package versions

import (
	"strings"
	"testing"
)

func TestLookupFindsEveryListedVersion(t *testing.T) {
	for _, version := range Kubernetes() {
		for _, spelling := range []string{version, strings.TrimPrefix(version, "v")} {
			release, err := Lookup(spelling)
			if err != nil {
				t.Fatalf("Lookup(%q): %v", spelling, err)
			}
			if release.Kubernetes != version {
				t.Errorf("Lookup(%q) = %s", spelling, release.Kubernetes)
			}
		}
	}
}

func TestLookupOfUnknownVersionListsTheSupportedOnes(t *testing.T) {
	_, err := Lookup("v1.20.0")
	if err == nil {
		t.Fatal("want an error")
	}
	for _, word := range append(Kubernetes(), "v1.20.0") {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not name %s", err, word)
		}
	}
}

func TestEveryRowIsComplete(t *testing.T) {
	for _, r := range releases {
		etcd := strings.TrimPrefix(r.Etcd, "v")
		if !strings.HasPrefix(r.Kubernetes, "v1.") || !strings.HasPrefix(r.Etcd, "v3.") ||
			!strings.HasPrefix(r.EtcdImageTag, etcd+"-") || !strings.HasPrefix(r.CoreDNS, "v1.") || r.Pause == "" {
			t.Errorf("row is incomplete or inconsistent: %+v", r)
		}
	}
}

func TestDerivedNames(t *testing.T) {
	release, err := Lookup("v1.36.3")
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct{ what, got, want string }{
		{"minor", release.Minor(), "36"},
		{"staging", release.Staging(), "v0.36.3"},
		{"package", release.PackageVersion(), "1.36.3-1.1"},
		{"pause", release.PauseImage(), "registry.k8s.io/pause:3.10.2"},
		{"first image", release.KubeadmImages()[0], "registry.k8s.io/kube-apiserver:v1.36.3"},
		{"CoreDNS image", release.KubeadmImages()[4], "registry.k8s.io/coredns/coredns:v1.14.2"},
		{"etcd image", release.KubeadmImages()[6], "registry.k8s.io/etcd:3.6.8-0"},
		{"kubernetes-cni", CNIPackageVersion(), "1.9.1-1.1"},
		{"containerd", ContainerdPackageVersion(), "2.4.2-1"},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
}
