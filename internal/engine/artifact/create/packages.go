package create

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/upstream"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// onlinePackages adds the packages of a kind that the directories lack, as the signed metadata of
// the repository of the minor version names them.
func (m *builder) onlinePackages(ctx context.Context, kind refitv1alpha1.PackageKind) error {
	wanted := m.wantedPackages(kind)
	if len(wanted) == 0 {
		return nil
	}
	version, err := skew.Parse(m.Kubernetes)
	if err != nil {
		return err
	}
	repository := m.Online.repository(version.MinorString(), kind, m.web())
	read, archOf := reader(repository, kind)
	var names []string
	for _, file := range wanted {
		names = append(names, file.Name)
	}
	found, err := read(ctx, names)
	if err != nil {
		return err
	}
	for _, file := range wanted {
		pkg := latest(found, file, archOf)
		if pkg == nil {
			return fmt.Errorf("%s has no %s %s for %s", repository.URL, file.Name, artifact.UpstreamVersion(file.Version), file.Arch)
		}
		file.Version, file.Blob = pkg.Version, pkg.Blob
		m.payload.Files = append(m.payload.Files, file)
	}
	return nil
}

// repository returns the repository of a minor version and a kind.
func (o *Online) repository(minor string, kind refitv1alpha1.PackageKind, web upstream.Web) *upstream.Repository {
	base := strings.TrimSuffix(cmp.Or(o.Packages, upstream.Packages), "/")
	r := &upstream.Repository{URL: fmt.Sprintf("%s/v%s/%s/", base, minor, strings.ToLower(string(kind))), Keys: o.PackageKeys, Web: web}
	if len(r.Keys) == 0 {
		r.Keys = []string{upstream.KubernetesKey}
	}
	return r
}

// reader returns how to read a repository of a kind, and the architecture that its packages name.
func reader(r *upstream.Repository, kind refitv1alpha1.PackageKind) (
	read func(ctx context.Context, names []string) ([]upstream.Package, error), archOf func(string) string,
) {
	if kind == refitv1alpha1.PackageRpm {
		return r.Rpms, artifact.ArchOfRpm
	}
	return r.Debs, artifact.ArchOfDeb
}

// wantedPackages returns the packages of a kind to look for, with the versions of upstream.
func (m *builder) wantedPackages(kind refitv1alpha1.PackageKind) (out []refitv1alpha1.ReleaseFile) {
	for _, arch := range m.Online.Archs {
		for _, p := range []struct {
			part          refitv1alpha1.Part
			name, version string
		}{
			{refitv1alpha1.PartKubeadm, "kubeadm", m.Kubernetes},
			{refitv1alpha1.PartKubelet, "kubelet", m.Kubernetes},
			{refitv1alpha1.PartKubectl, "kubectl", m.Kubernetes},
			{refitv1alpha1.PartCNI, "kubernetes-cni", m.payload.CNIPlugins},
		} {
			if p.version == "" || m.without(string(p.part)) || m.hasFile(kind, p.part, arch) || !m.Online.has(p.part, kind) {
				continue
			}
			out = append(out, refitv1alpha1.ReleaseFile{Part: p.part, Name: p.name, Kind: kind, OS: "linux", Arch: arch, Version: p.version})
		}
	}
	return out
}

func (m *builder) hasFile(kind refitv1alpha1.PackageKind, part refitv1alpha1.Part, arch string) bool {
	return slices.ContainsFunc(m.payload.Files, func(f refitv1alpha1.ReleaseFile) bool { return f.Kind == kind && f.Part == part && f.Arch == arch })
}

// latest returns the package with the highest revision of a version.
func latest(found []upstream.Package, wanted refitv1alpha1.ReleaseFile, archOf func(string) string) (out *upstream.Package) {
	for i := range found {
		p := &found[i]
		if p.Name != wanted.Name || archOf(p.Arch) != wanted.Arch || !sameRelease(wanted.Part, p.Version, wanted.Version) {
			continue
		}
		if out == nil || compareRevisions(p.Version, out.Version) > 0 {
			out = p
		}
	}
	return out
}
