package create

import (
	"context"
	"fmt"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// choose selects the binaries and packages of the ClusterRelease.
func (m *builder) choose(context.Context) error {
	for _, part := range []struct {
		part    refitv1alpha1.Part
		flag    string
		version *string
	}{
		{refitv1alpha1.PartContainerd, "containerd", &m.payload.Containerd},
		{refitv1alpha1.PartRunc, "runc", &m.payload.Runc},
		{refitv1alpha1.PartCNI, "cni-plugins", &m.payload.CNIPlugins},
	} {
		version, err := m.versionOfPart(part.part, part.flag)
		if err != nil {
			return err
		}
		*part.version = version
	}
	taken := map[string]*found{}
	for _, f := range m.files {
		if why := m.reject(f.file); why != "" {
			m.skip(f.path, why)
			continue
		}
		m.doing(f.path)
		blob, err := f.blob()
		if err != nil {
			return err
		}
		f.file.Blob = blob
		key := strings.Join([]string{f.file.OS, f.file.Arch, string(f.file.Kind), f.file.Name}, " ")
		if other := taken[key]; other != nil {
			if other.file.Digest != blob.Digest {
				return fmt.Errorf("found two different files of %s: %s and %s", f.file.Name, other.full, f.full)
			}
			continue
		}
		taken[key] = f
		m.payload.Files = append(m.payload.Files, f.file)
	}
	return nil
}

// reject returns why a binary or package is skipped, or an empty string.
func (m *builder) reject(f refitv1alpha1.ReleaseFile) string {
	claimed := map[refitv1alpha1.Part]string{
		refitv1alpha1.PartContainerd: m.payload.Containerd, refitv1alpha1.PartRunc: m.payload.Runc, refitv1alpha1.PartCNI: m.payload.CNIPlugins,
	}
	want, other := claimed[f.Part]
	switch {
	case m.without(string(f.Part)):
		return excluded
	case !other:
		want = m.Kubernetes
	}
	switch {
	case f.Kind != refitv1alpha1.PackageBinary && sameRelease(f.Part, f.Version, want):
		return ""
	case f.Kind == refitv1alpha1.PackageBinary && strings.TrimPrefix(f.Version, "v") == strings.TrimPrefix(want, "v"):
		return ""
	}
	return otherVersion
}

// versionOfPart returns the version of a part that is versioned apart from Kubernetes: the
// requested one, or the only one found.
func (m *builder) versionOfPart(part refitv1alpha1.Part, flag string) (string, error) {
	if m.without(string(part)) {
		return "", nil
	}
	versions := m.versionsOf(part)
	if requested := strings.TrimPrefix(m.requested(part), "v"); requested != "" {
		for _, version := range versions {
			if version == requested || artifact.UpstreamVersion(version) == requested {
				return version, nil
			}
		}
		if m.publishes(part) {
			return requested, nil
		}
		where := "in the directories"
		if m.Online != nil {
			where += ", and upstream has none of the kind that the hosts have"
		}
		return "", fmt.Errorf("no %s %s found %s%s", part, requested, where, foundVersions(versions))
	}
	switch len(versions) {
	case 0:
		for _, f := range m.files {
			if f.file.Part == part {
				return "", fmt.Errorf("the version of %s is unknown: set it with --%s, or exclude it with --without %s", f.path, flag, part)
			}
		}
		return "", nil
	case 1:
		return versions[0], nil
	}
	return "", fmt.Errorf("found several versions of %s: %s; select one with --%s, or exclude it with --without %s",
		part, strings.Join(versions, ", "), flag, part)
}

// publishes reports whether upstream may have a part that the directories lack, as the hosts have
// it. It has only the CNI plugins as packages.
func (m *builder) publishes(part refitv1alpha1.Part) bool {
	if m.Online == nil {
		return false
	}
	return slices.ContainsFunc(kinds, func(kind refitv1alpha1.PackageKind) bool {
		return m.Online.has(part, kind) && (kind == refitv1alpha1.PackageBinary || part == refitv1alpha1.PartCNI)
	})
}

// versionsOf returns the versions of a part that were found, those of packages only if no binary
// has the same.
func (m *builder) versionsOf(part refitv1alpha1.Part) []string {
	var out []string
	for _, kind := range kinds {
		for _, f := range m.files {
			if f.file.Part != part || f.file.Kind != kind {
				continue
			}
			version := strings.TrimPrefix(f.file.Version, "v")
			if kind != refitv1alpha1.PackageBinary {
				version = artifact.UpstreamVersion(version)
			}
			same := func(other string) bool { return artifact.UpstreamVersion(other) == artifact.UpstreamVersion(version) }
			if version != "" && !slices.ContainsFunc(out, same) {
				out = append(out, version)
			}
		}
	}
	slices.Sort(out)
	return out
}

func foundVersions(versions []string) string {
	if len(versions) == 0 {
		return ""
	}
	return "; found " + strings.Join(versions, ", ")
}
