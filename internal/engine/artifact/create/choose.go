package create

import (
	"context"
	"fmt"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

// choose takes the programs and packages that belong to the ClusterRelease.
func (m *making) choose(context.Context) error {
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
	for _, f := range m.programs {
		if why := m.reject(f.file); why != "" {
			m.skip(f.path, why)
			continue
		}
		m.doing("reading %s", f.path)
		blob, err := f.blob()
		if err != nil {
			return err
		}
		f.file.Blob = blob
		key := strings.Join([]string{f.file.OS, f.file.Arch, string(f.file.Kind), f.file.Name}, " ")
		if other := taken[key]; other != nil {
			if other.file.Digest != blob.Digest {
				return fmt.Errorf("%s is there twice and differs: %s and %s", f.file.Name, other.full, f.full)
			}
			continue
		}
		taken[key] = f
		m.payload.Files = append(m.payload.Files, f.file)
	}
	return nil
}

// reject says why a program or package is not taken; empty if it is.
func (m *making) reject(f refitv1alpha1.ReleaseFile) string {
	claimed := map[refitv1alpha1.Part]string{
		refitv1alpha1.PartContainerd: m.payload.Containerd, refitv1alpha1.PartRunc: m.payload.Runc, refitv1alpha1.PartCNI: m.payload.CNIPlugins,
	}
	want, other := claimed[f.Part]
	switch {
	case m.without(string(f.Part)):
		return leftOut
	case !other:
		want = m.Kubernetes
	}
	switch {
	case f.Kind == refitv1alpha1.PackageDeb && artifact.UpstreamVersion(f.Version) == artifact.UpstreamVersion(want):
		return ""
	case f.Kind == refitv1alpha1.PackageBinary && strings.TrimPrefix(f.Version, "v") == strings.TrimPrefix(want, "v"):
		return ""
	}
	return otherVersion
}

// versionOfPart is the version of a part that is not Kubernetes': the one that was asked for, or the only one that was found.
func (m *making) versionOfPart(part refitv1alpha1.Part, flag string) (string, error) {
	if m.without(string(part)) {
		return "", nil
	}
	versions := m.versionsOf(part)
	if asked := strings.TrimPrefix(m.chosen(part), "v"); asked != "" {
		for _, version := range versions {
			if version == asked || artifact.UpstreamVersion(version) == asked {
				return version, nil
			}
		}
		if part == refitv1alpha1.PartRunc && m.Online != nil {
			return asked, nil
		}
		return "", fmt.Errorf("there is no %s %s in the folders%s", part, asked, orFound(versions))
	}
	switch len(versions) {
	case 0:
		for _, f := range m.programs {
			if f.file.Part == part {
				return "", fmt.Errorf("%s does not tell its version; give it with --%s, or leave it out with --without %s", f.path, flag, part)
			}
		}
		return "", nil
	case 1:
		return versions[0], nil
	}
	return "", fmt.Errorf("there are several versions of %s: %s; choose one with --%s, or leave it out with --without %s",
		part, strings.Join(versions, ", "), flag, part)
}

// versionsOf is the versions of a part that were found, as a ClusterRelease writes them: those of packages only where no program has the same.
func (m *making) versionsOf(part refitv1alpha1.Part) []string {
	var out []string
	for _, kind := range []refitv1alpha1.PackageKind{refitv1alpha1.PackageBinary, refitv1alpha1.PackageDeb} {
		for _, f := range m.programs {
			if f.file.Part != part || f.file.Kind != kind {
				continue
			}
			version := strings.TrimPrefix(f.file.Version, "v")
			if kind == refitv1alpha1.PackageDeb {
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

func orFound(versions []string) string {
	if len(versions) == 0 {
		return ""
	}
	return "; found " + strings.Join(versions, ", ")
}
