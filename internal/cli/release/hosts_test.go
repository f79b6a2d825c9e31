package release

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func hostOf(name string, kind refitv1alpha1.PackageKind, arch string) cluster.Node {
	return cluster.Node{Name: name, OS: "linux", Arch: arch, Report: &refitv1alpha1.NodeReportStatus{PackageKind: kind}}
}

func TestFilesForTheHostsOfACluster(t *testing.T) {
	c := &Creation{}
	c.Servers.Archs = []string{"s390x"} // the default of the flag
	err := c.For(&cluster.Snapshot{Nodes: []cluster.Node{
		hostOf("a", refitv1alpha1.PackageRpm, "amd64"), hostOf("b", refitv1alpha1.PackageDeb, "arm64"), hostOf("c", refitv1alpha1.PackageDeb, "amd64"),
		{Name: "w", OS: "windows", Arch: "amd64"},
	}})
	if err != nil || fmt.Sprint(c.Servers.Kinds) != "[Deb Rpm]" || !slices.Equal(c.Servers.Archs, []string{"amd64", "arm64"}) {
		t.Errorf("%v %v %v", c.Servers.Kinds, c.Servers.Archs, err)
	}
}

// Facts of a host decide on its archives, not the kind of its kubelet.
func TestPartsOfTheHostsOfACluster(t *testing.T) {
	plain := func(files ...string) cluster.Node {
		n := hostOf("a", refitv1alpha1.PackageDeb, "amd64")
		n.Report.Parts = []refitv1alpha1.PartFacts{
			{Part: refitv1alpha1.PartContainerd, Kind: refitv1alpha1.PackageBinary},
			{Part: refitv1alpha1.PartRunc, Absent: true},
			{Part: refitv1alpha1.PartCNI, Kind: refitv1alpha1.PackageBinary, Files: files},
		}
		return n
	}
	mixed := hostOf("m", refitv1alpha1.PackageBinary, "amd64")
	mixed.Report.Parts = []refitv1alpha1.PartFacts{
		{Part: refitv1alpha1.PartKubeadm, Absent: true}, {Part: refitv1alpha1.PartKubectl, Kind: refitv1alpha1.PackageDeb, Package: "kubectl"},
	}
	creation := &Creation{}
	err := creation.For(&cluster.Snapshot{Nodes: []cluster.Node{mixed}})
	if got := creation.Servers.PartKinds; err != nil || fmt.Sprint(got[refitv1alpha1.PartKubeadm], got[refitv1alpha1.PartKubectl]) != "[Binary] [Deb]" {
		t.Errorf("%v %v", got, err)
	}
	if hosts := creation.Servers.Hosts; len(hosts) != 1 || hosts[0].Name != "m" || hosts[0].Arch != "amd64" || len(hosts[0].Parts) != 5 {
		t.Errorf("%+v", hosts)
	}
	for situation, c := range map[string]struct {
		nodes   []cluster.Node
		kinds   string // of containerd, runc and the CNI plugins
		plugins []string
	}{
		"containerd and plugins are plain files": {[]cluster.Node{plain("loopback", "bridge")}, "[Binary] [] [Binary]", []string{"loopback", "bridge"}},
		"hosts differ": {
			[]cluster.Node{plain("loopback"), hostOf("b", refitv1alpha1.PackageRpm, "amd64"), plain("loopback", "vlan")},
			"[Binary Rpm] [Rpm] [Binary Rpm]",
			[]string{"loopback", "vlan"},
		},
		"an older agent does not list the plugins": {[]cluster.Node{plain("loopback"), plain()}, "[Binary] [] [Binary]", nil},
		"plugins from packages":                    {[]cluster.Node{hostOf("b", refitv1alpha1.PackageDeb, "amd64")}, "[Deb] [Deb] [Deb]", nil},
	} {
		creation := &Creation{}
		err := creation.For(&cluster.Snapshot{Nodes: c.nodes})
		kinds := creation.Servers.PartKinds
		got := fmt.Sprint(kinds[refitv1alpha1.PartContainerd], kinds[refitv1alpha1.PartRunc], kinds[refitv1alpha1.PartCNI])
		if err != nil || got != c.kinds || !slices.Equal(creation.Servers.Plugins, c.plugins) {
			t.Errorf("%s: %s %v %v, want %s %v", situation, got, creation.Servers.Plugins, err, c.kinds, c.plugins)
		}
	}
}

func TestTheRepositoryOfImagesIsThatOfTheCluster(t *testing.T) {
	for given, want := range map[string]string{"": "registry.example/k8s", "registry.k8s.io": "registry.k8s.io", "other.example": "other.example"} {
		c := &Creation{repositoryGiven: given != ""}
		c.Servers.Repository, c.Servers.Mirror = given, "https://mirror.example"
		err := c.For(&cluster.Snapshot{
			Nodes: []cluster.Node{hostOf("a", refitv1alpha1.PackageDeb, "amd64")}, Kubeadm: &cluster.Kubeadm{ImageRepository: "registry.example/k8s"},
		})
		if err != nil || c.Servers.Repository != want || (c.Servers.Mirror == "") != (given == "") {
			t.Errorf("given %q: %q at %q %v, want %q", given, c.Servers.Repository, c.Servers.Mirror, err, want)
		}
	}
}

func TestHostsOfUnknownKindAreNotGuessed(t *testing.T) {
	for situation, unknown := range map[string]cluster.Node{
		"without a report": {Name: "b", OS: "linux"},
		"of unknown kind":  hostOf("b", "", "amd64"),
	} {
		err := (&Creation{}).For(&cluster.Snapshot{Nodes: []cluster.Node{hostOf("a", refitv1alpha1.PackageDeb, "amd64"), unknown}})
		if err == nil || !strings.Contains(err.Error(), "1 of 2 nodes, such as b") {
			t.Errorf("%s: %v", situation, err)
		}
	}
}

func TestWrongFlagsOfACreation(t *testing.T) {
	for situation, c := range map[string]struct {
		creation Creation
		given    []string
		want     string
	}{
		"an unknown kind":                {Creation{Upstream: true, Kinds: []string{"snap"}}, []string{"kind"}, "is not one of binary, deb, rpm"},
		"a kind without upstream":        {Creation{Kinds: []string{"deb"}}, []string{"kind"}, "--kind requires --online"},
		"a cluster and a kind":           {Creation{Upstream: true, Kinds: []string{"deb"}}, []string{"for-cluster", "kind"}, "excludes --kind and --arch"},
		"a key without upstream":         {Creation{}, []string{"package-key"}, "--package-key requires --online"},
		"a digest without upstream":      {Creation{}, []string{"accept-digest"}, "--accept-digest requires --online"},
		"a repository without upstream":  {Creation{}, []string{"packages"}, "--packages requires --online"},
		"hosts of a cluster, but no net": {Creation{}, []string{"for-cluster"}, "--for-cluster requires --online"},
	} {
		c.creation.Kubernetes, c.creation.Folders = "v1.36.3", []string{"x"}
		err := c.creation.Check(func(flag string) bool { return slices.Contains(c.given, flag) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", situation, err, c.want)
		}
	}
}
