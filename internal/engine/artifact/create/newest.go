package create

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/upstream"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// Newest returns the newest patch release of a minor version, such as 1.36, that upstream has for
// every kind and architecture of hosts. Of packages, the signed metadata lists the versions; of
// binaries, upstream names the newest one, which only TLS proves.
func (o *Online) Newest(ctx context.Context, minor string, doing func(string)) (string, error) {
	if err := o.check(); err != nil {
		return "", WrongOptionError{err}
	}
	web := upstream.Web{Doing: doing}
	var common []skew.Version // in every repository so far
	first := true
	for _, kind := range o.Kinds {
		if kind == refitv1alpha1.PackageBinary {
			continue
		}
		repository := o.repository(minor, kind, web)
		read, archOf := reader(repository, kind)
		found, err := read(ctx, []string{"kubelet"})
		if err != nil {
			return "", err
		}
		for _, arch := range o.Archs {
			versions := versionsOf(found, minor, arch, archOf)
			if len(versions) == 0 {
				return "", fmt.Errorf("%s has no release of v%s for %s", repository.URL, minor, arch)
			}
			if first {
				common, first = versions, false
				continue
			}
			common = slices.DeleteFunc(common, func(v skew.Version) bool { return !slices.Contains(versions, v) })
		}
	}
	if o.binaries() {
		stable, err := o.stable(ctx, minor, web)
		if err != nil || first {
			return stable.String(), err
		}
		common = slices.DeleteFunc(common, stable.Before)
	}
	if len(common) == 0 {
		return "", errors.New("no patch release of v" + minor + " is published for all kinds and architectures of the hosts")
	}
	return slices.MaxFunc(common, skew.Version.Compare).String(), nil
}

// versionsOf returns the versions of a minor version that packages have for an architecture,
// without pre-releases.
func versionsOf(found []upstream.Package, minor, arch string, archOf func(string) string) (out []skew.Version) {
	for i := range found {
		p := &found[i]
		v, err := skew.Parse(artifact.UpstreamVersion(p.Version))
		if err == nil && archOf(p.Arch) == arch && v.MinorString() == minor && !preRelease(p.Version) {
			out = append(out, v)
		}
	}
	return out
}

// stable returns the newest patch release of a minor version that has binaries.
func (o *Online) stable(ctx context.Context, minor string, web upstream.Web) (skew.Version, error) {
	address := fmt.Sprintf("%s/stable-%s.txt", strings.TrimSuffix(cmp.Or(o.Downloads, Downloads), "/"), minor)
	raw, err := web.Get(ctx, address, maxDocument)
	if err != nil {
		return skew.Version{}, err
	}
	text := strings.TrimSpace(string(raw))
	version, err := skew.Parse(text)
	if err != nil || version.MinorString() != minor || version.String() != text { // it may be a pre-release
		return skew.Version{}, fmt.Errorf("%s names no release of v%s", address, minor)
	}
	return version, nil
}
