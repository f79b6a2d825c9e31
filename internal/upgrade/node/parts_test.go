package node

import (
	"reflect"
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const (
	binary = refitv1alpha1.PackageBinary
	deb    = refitv1alpha1.PackageDeb
)

func releaseFile(part refitv1alpha1.Part, name string, kind refitv1alpha1.PackageKind) refitv1alpha1.ReleaseFile {
	return refitv1alpha1.ReleaseFile{Part: part, Name: name, Kind: kind, OS: "linux", Arch: "amd64"}
}

// mixed is a ClusterRelease for amd64 hosts: Kubernetes from Debian packages, all else as plain
// files, and containerd also from the packages of two vendors.
var mixed = refitv1alpha1.ReleasePayload{Kubernetes: "v1.36.3", Files: []refitv1alpha1.ReleaseFile{
	releaseFile(refitv1alpha1.PartKubeadm, "kubeadm", deb), releaseFile(refitv1alpha1.PartKubelet, "kubelet", deb),
	releaseFile(refitv1alpha1.PartKubectl, "kubectl", deb), releaseFile(refitv1alpha1.PartContainerd, "containerd", binary),
	releaseFile(refitv1alpha1.PartContainerd, "containerd", deb), releaseFile(refitv1alpha1.PartContainerd, "containerd.io", deb),
	releaseFile(refitv1alpha1.PartRunc, "runc", binary),
}}

func installedAs(part refitv1alpha1.Part, kind refitv1alpha1.PackageKind, pkg string) refitv1alpha1.PartFacts {
	return refitv1alpha1.PartFacts{Part: part, Kind: kind, Package: pkg}
}

func TestPartsOfAHost(t *testing.T) {
	kubelet, kubeadm := installedAs(refitv1alpha1.PartKubelet, deb, "kubelet"), installedAs(refitv1alpha1.PartKubeadm, deb, "kubeadm")
	kubectl := installedAs(refitv1alpha1.PartKubectl, deb, "kubectl")
	for name, host := range map[string]struct {
		arch      string
		installed []refitv1alpha1.PartFacts
		needed    []string // files by kind and name
		missing   []refitv1alpha1.Part
	}{
		"without kubectl":      {"amd64", []refitv1alpha1.PartFacts{kubelet, kubeadm}, []string{"Deb kubeadm", "Deb kubelet"}, nil},
		"without kubeadm":      {"amd64", []refitv1alpha1.PartFacts{kubelet, kubectl}, []string{"Deb kubeadm", "Deb kubelet", "Deb kubectl"}, nil},
		"with another runtime": {"amd64", []refitv1alpha1.PartFacts{kubelet, kubeadm, kubectl}, []string{"Deb kubeadm", "Deb kubelet", "Deb kubectl"}, nil},
		"kubelet from a package, containerd from an archive": {
			"amd64",
			[]refitv1alpha1.PartFacts{
				kubelet, kubeadm, installedAs(refitv1alpha1.PartContainerd, binary, ""), installedAs(refitv1alpha1.PartRunc, binary, ""),
			},
			[]string{"Deb kubeadm", "Deb kubelet", "Binary containerd", "Binary runc"},
			nil,
		},
		"containerd from the package of one vendor": {
			"amd64",
			[]refitv1alpha1.PartFacts{kubelet, kubeadm, installedAs(refitv1alpha1.PartContainerd, deb, "containerd.io")},
			[]string{"Deb kubeadm", "Deb kubelet", "Deb containerd.io"},
			nil,
		},
		"runc from a package that the ClusterRelease lacks": {
			"amd64",
			[]refitv1alpha1.PartFacts{kubelet, kubeadm, installedAs(refitv1alpha1.PartRunc, deb, "runc")},
			[]string{"Deb kubeadm", "Deb kubelet"},
			[]refitv1alpha1.Part{refitv1alpha1.PartRunc},
		},
		"kubelet of a kind that the ClusterRelease lacks": {
			"amd64",
			[]refitv1alpha1.PartFacts{installedAs(refitv1alpha1.PartKubelet, binary, ""), installedAs(refitv1alpha1.PartKubeadm, binary, "")},
			nil,
			[]refitv1alpha1.Part{refitv1alpha1.PartKubeadm, refitv1alpha1.PartKubelet},
		},
		"architecture that the ClusterRelease lacks": {
			"arm64",
			[]refitv1alpha1.PartFacts{kubelet, kubeadm, kubectl},
			nil,
			[]refitv1alpha1.Part{refitv1alpha1.PartKubeadm, refitv1alpha1.PartKubelet, refitv1alpha1.PartKubectl},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var needed []string
			var missing []refitv1alpha1.Part
			for _, part := range NeededParts(mixed, host.installed) {
				files := FilesOf(mixed, "linux", host.arch, part)
				if len(files) == 0 {
					missing = append(missing, part.Part)
				}
				for _, f := range files {
					needed = append(needed, string(f.Kind)+" "+f.Name)
				}
			}
			if !slices.Equal(needed, host.needed) || !slices.Equal(missing, host.missing) {
				t.Errorf("needs %v, lacks %v; want %v and %v", needed, missing, host.needed, host.missing)
			}
		})
	}
}

func TestReportListsOnlyUnusualParts(t *testing.T) {
	usual := []refitv1alpha1.PartFacts{
		installedAs(refitv1alpha1.PartKubeadm, deb, "kubeadm"), installedAs(refitv1alpha1.PartKubelet, deb, "kubelet"),
		installedAs(refitv1alpha1.PartKubectl, deb, "kubectl"), installedAs(refitv1alpha1.PartContainerd, deb, "containerd"),
		installedAs(refitv1alpha1.PartRunc, deb, "runc"), installedAs(refitv1alpha1.PartCNI, deb, "kubernetes-cni"),
	}
	vendor := slices.Clone(usual[:4])
	vendor[3].Package = "containerd.io" // it contains runc
	for name, host := range map[string]struct {
		installed []refitv1alpha1.PartFacts
		listed    int
	}{
		"usual packages": {usual, 0},
		"no kubectl, containerd as a plain file": {[]refitv1alpha1.PartFacts{
			usual[0], usual[1], installedAs(refitv1alpha1.PartContainerd, binary, ""), usual[4], usual[5],
		}, 2},
		"containerd from another vendor, no plugins": {vendor, 3},
		"plain files": {[]refitv1alpha1.PartFacts{
			installedAs(refitv1alpha1.PartKubelet, binary, ""), installedAs(refitv1alpha1.PartContainerd, binary, ""),
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			kubelet, _ := installedPart(host.installed, refitv1alpha1.PartKubelet)
			report := refitv1alpha1.NodeReportStatus{PackageKind: kubelet.Kind, Parts: UnusualParts(host.installed)}
			if got := ReportedParts(&report); len(report.Parts) != host.listed || !reflect.DeepEqual(got, host.installed) {
				t.Errorf("listed %v, read back %v", report.Parts, got)
			}
		})
	}
	if got := ReportedParts(&refitv1alpha1.NodeReportStatus{}); got != nil {
		t.Errorf("an unknown host has %v", got)
	}
}

func TestHostsOfAMixedClusterGetTheFilesAndImagesOfTheirArchitecture(t *testing.T) {
	var p refitv1alpha1.ReleasePayload
	for _, arch := range []string{"amd64", "arm64"} {
		p.Files = append(p.Files, refitv1alpha1.ReleaseFile{
			Part: refitv1alpha1.PartKubelet, Name: "kubelet", Kind: deb, OS: "linux", Arch: arch, Blob: refitv1alpha1.Blob{Digest: "kubelet for " + arch},
		})
		for _, name := range []string{"kube-proxy", "kube-apiserver"} {
			p.Images = append(p.Images, refitv1alpha1.ReleaseImage{
				Name: name, OS: "linux", Arch: arch, ControlPlane: name == "kube-apiserver", Config: name + " for " + arch,
			})
		}
	}
	for _, arch := range []string{"amd64", "arm64"} {
		files := FilesOf(p, "linux", arch, installedAs(refitv1alpha1.PartKubelet, deb, "kubelet"))
		if len(files) != 1 || files[0].Digest != "kubelet for "+arch {
			t.Errorf("%s: %v", arch, files)
		}
		images, missing := ImagesOf(p, "linux", arch, false)
		if len(images) != 1 || images[0].Config != "kube-proxy for "+arch || len(missing) > 0 {
			t.Errorf("a worker with %s: %v, missing %v", arch, images, missing)
		}
	}
	p.Images = slices.DeleteFunc(p.Images, func(i refitv1alpha1.ReleaseImage) bool { return i.Arch == "arm64" && i.ControlPlane })
	if images, missing := ImagesOf(p, "linux", "arm64", true); len(images) != 1 || !slices.Equal(missing, []string{"kube-apiserver"}) {
		t.Errorf("a control plane node: %v, missing %v", images, missing)
	}
	if _, missing := ImagesOf(p, "linux", "arm64", false); len(missing) > 0 {
		t.Errorf("a worker does not need %v", missing)
	}
}

func TestImagesWhoseNamesHaveAnArchitectureBelongToItsHosts(t *testing.T) {
	for name, missing := range map[string]bool{
		"registry.k8s.io/pause-amd64:3.10":          false,
		"registry.k8s.io/etcd:3.6.8-0-amd64":        false,
		"registry.example.com:5000/amd64/etcd:3.6":  false,
		"amd64/busybox:1.36":                        false,
		"registry.k8s.io/pause:3.10":                true,
		"amd64.example.com/pause:3.10":              true,
		"registry.example.com/pauseamd64/etcd:3.6":  true,
		"registry.k8s.io/kube-proxy-arm64:v1.36.3":  true, // of another architecture than the image
		"registry.example.com/vendor/etcd_amd64:v3": false,
	} {
		p := refitv1alpha1.ReleasePayload{Images: []refitv1alpha1.ReleaseImage{{Name: name, OS: "linux", Arch: "amd64"}}}
		if images, got := ImagesOf(p, "linux", "arm64", true); len(images) != 0 || (len(got) > 0) != missing {
			t.Errorf("%s: %v, missing %v", name, images, got)
		}
		if images, got := ImagesOf(p, "linux", "amd64", true); len(images) != 1 || len(got) != 0 {
			t.Errorf("%s on its platform: %v, missing %v", name, images, got)
		}
	}
}

// A host keeps the plugins that it has, and gets no others.
func TestPluginsThatAHostGets(t *testing.T) {
	release := refitv1alpha1.ReleasePayload{}
	for _, name := range []string{"bridge", "loopback", "portmap"} {
		release.Files = append(release.Files, releaseFile(refitv1alpha1.PartCNI, name, binary))
	}
	for name, host := range map[string]struct {
		has  []string
		want []string
	}{
		"some of them":             {[]string{"loopback", "bridge", "tuning"}, []string{"bridge", "loopback"}},
		"none of them":             {[]string{"tuning"}, nil},
		"not known, to old agents": {nil, []string{"bridge", "loopback", "portmap"}},
	} {
		kubelet := installedAs(refitv1alpha1.PartKubelet, deb, "kubelet")
		installed := []refitv1alpha1.PartFacts{kubelet, {Part: refitv1alpha1.PartCNI, Kind: binary, Files: host.has}}
		var upgrade Upgrade
		var got []string
		for _, part := range NeededParts(release, installed) {
			if part.Part != refitv1alpha1.PartCNI {
				continue
			}
			upgrade.AddPart(part)
			for _, f := range FilesOf(release, "linux", "amd64", upgrade.Part(refitv1alpha1.PartCNI)) {
				got = append(got, f.Name)
			}
		}
		if !slices.Equal(got, host.want) || (host.want == nil) != (len(upgrade.Parts) == 0) {
			t.Errorf("%s: %v, want %v", name, got, host.want)
		}
		report := &refitv1alpha1.NodeReportStatus{PackageKind: deb, Parts: UnusualParts(installed)}
		reported, _ := installedPart(ReportedParts(report), refitv1alpha1.PartCNI)
		if !slices.Equal(reported.Files, host.has) {
			t.Errorf("%s: the report has %v, want %v", name, reported.Files, host.has)
		}
	}
}

// A drained host must not wait for downloads: what appears after the prefetch is left alone.
func TestApplyInstallsWhatThePrefetchFetched(t *testing.T) {
	plugins := func(files ...string) refitv1alpha1.PartFacts {
		return refitv1alpha1.PartFacts{Part: refitv1alpha1.PartCNI, Kind: binary, Files: files}
	}
	base := []refitv1alpha1.PartFacts{installedAs(refitv1alpha1.PartKubeadm, deb, "kubeadm"), installedAs(refitv1alpha1.PartKubelet, deb, "kubelet")}
	upgrade := func(parts ...refitv1alpha1.PartFacts) *Upgrade {
		u := &Upgrade{Operation: refitv1alpha1.Operation{UID: "op"}, Release: refitv1alpha1.ReleaseRef{Digest: "sha256:aa"}, NodeUID: "n", MachineID: "m"}
		for _, part := range append(slices.Clone(base), parts...) {
			u.AddPart(part)
		}
		return u
	}
	containerd, packaged := installedAs(refitv1alpha1.PartContainerd, binary, ""), installedAs(refitv1alpha1.PartContainerd, deb, "containerd.io")
	for situation, c := range map[string]struct{ fetched, surveyed, want *Upgrade }{
		"nothing changed":         {upgrade(plugins("bridge")), upgrade(plugins("bridge")), upgrade(plugins("bridge"))},
		"a plugin appeared":       {upgrade(plugins("bridge")), upgrade(plugins("bridge", "vlan")), upgrade(plugins("bridge"))},
		"a plugin disappeared":    {upgrade(plugins("bridge", "vlan")), upgrade(plugins("vlan")), upgrade(plugins("vlan"))},
		"all plugins are others":  {upgrade(plugins("bridge")), upgrade(plugins("vlan")), upgrade()},
		"plugins appeared":        {upgrade(), upgrade(plugins("vlan")), upgrade()},
		"kubectl appeared":        {upgrade(), upgrade(installedAs(refitv1alpha1.PartKubectl, deb, "kubectl")), upgrade()},
		"plugins were not listed": {upgrade(plugins()), upgrade(plugins("vlan")), upgrade(plugins("vlan"))},
		"another kind":            {upgrade(containerd), upgrade(packaged), upgrade(packaged)},
	} {
		if c.surveyed.LimitTo(c.fetched); !reflect.DeepEqual(c.surveyed, c.want) {
			t.Errorf("%s: %+v, want %+v", situation, c.surveyed, c.want)
		}
	}
	for situation, change := range map[string]func(*Upgrade){
		"another operation":      func(u *Upgrade) { u.Operation.UID = "other" },
		"another ClusterRelease": func(u *Upgrade) { u.Release.Digest = "sha256:bb" },
		"another node":           func(u *Upgrade) { u.NodeUID = "other" },
		"another machine":        func(u *Upgrade) { u.MachineID = "other" },
		"another attempt":        func(u *Upgrade) { u.Attempt = 1 },
	} {
		former, u := upgrade(), upgrade(plugins("vlan"))
		change(former)
		if u.LimitTo(former); !reflect.DeepEqual(u, upgrade(plugins("vlan"))) {
			t.Errorf("%s: %+v", situation, u)
		}
	}
}

func TestHostsThatRunTheVersion(t *testing.T) {
	const old, now = "v1.36.1", "v1.36.3"
	for _, c := range []struct {
		name         string
		role         refitv1alpha1.Role
		from, server string
		want         bool
	}{
		{"worker", refitv1alpha1.RoleWorker, now, "", true},
		{"worker of a newer patch release", refitv1alpha1.RoleWorker, "v1.36.5", "", true},
		{"control plane node of a newer patch release", refitv1alpha1.RoleControlPlane, "v1.36.5", "v1.36.5", true},
		{"worker of an unknown version", refitv1alpha1.RoleWorker, "", "", false},
		{"older worker", refitv1alpha1.RoleWorker, old, "", false},
		{"control plane node", refitv1alpha1.RoleControlPlane, now, now, true},
		{"its API server is older", refitv1alpha1.RoleFirstControlPlane, now, old, false},
		{"its API server is unknown", refitv1alpha1.RoleControlPlane, now, "", false},
		{"its kubelet is older", refitv1alpha1.RoleControlPlane, old, now, false},
	} {
		if got := Runs(&Upgrade{Role: c.role, From: c.from, To: now}, c.server); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// A host that was prefetched for components only, and is upgraded after all, is surveyed as if
// nothing was fetched.
func TestAnUpgradeIsNotLimitedToImages(t *testing.T) {
	next := &Upgrade{}
	next.AddPart(refitv1alpha1.PartFacts{Part: refitv1alpha1.PartContainerd, Kind: refitv1alpha1.PackageBinary})
	if next.LimitTo(&Upgrade{ImagesOnly: true}); len(next.Parts) != 1 {
		t.Errorf("its parts are %v", next.Parts)
	}
}
