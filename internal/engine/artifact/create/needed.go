package create

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact/upstream"
)

// dockerHub is the registry of images without one, which another host serves.
const (
	dockerHub       = "docker.io"
	dockerHubServer = "registry-1.docker.io"
)

var shortImage = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*(:[0-9]{1,5})?(/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$`)

// FullName returns the name of an image as container runtimes complete it: with its registry and
// its tag. An image that is named by its digest only has none, because runtimes could not find it
// under the name that the ClusterRelease lists.
func FullName(image string) (string, error) {
	name, _, digested := strings.Cut(image, "@")
	if !shortImage.MatchString(name) {
		return "", fmt.Errorf("%q is not the name of an image", refitv1alpha1.Clip(image, 80))
	}
	host, rest, nested := strings.Cut(name, "/")
	switch {
	case !nested:
		name = dockerHub + "/library/" + name
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		name = dockerHub + "/" + name
	case host == dockerHub && !strings.Contains(rest, "/"):
		name = dockerHub + "/library/" + rest
	}
	if !strings.Contains(name[strings.LastIndex(name, "/"):], ":") {
		if digested {
			return "", fmt.Errorf("the image %s has a digest and no tag: name it with its tag, or with both", refitv1alpha1.Clip(image, 160))
		}
		name += ":latest"
	}
	return name, nil
}

// needs reports whether a component needs an image.
func (m *builder) needs(name string) bool {
	return slices.ContainsFunc(m.Images, func(n NeededImage) bool { return n.Name == name })
}

func (m *builder) hasNeeded(name, arch string) bool {
	return slices.ContainsFunc(m.payload.Images, func(i refitv1alpha1.ReleaseImage) bool { return i.Name == name && i.Arch == arch })
}

// checkNeeded fails if an image of a component is missing for a platform of the hosts.
func (m *builder) checkNeeded(archs map[string]bool) error {
	var missing []string
	for _, image := range m.Images {
		for _, arch := range slices.Sorted(maps.Keys(archs)) {
			if !m.hasNeeded(image.Name, arch) {
				missing = append(missing, fmt.Sprintf("%s for %s (%s)", image.Name, arch, image.By))
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("images of components are missing: %s. Add an archive of each to a --from directory (`docker save`, `ctr images export`), "+
		"or take them from their registries with --online", strings.Join(missing, ", "))
}

// onlineNeeded adds the images of components from their own registries. Only those of the
// repository of upstream have a signature that Refit verifies.
func (m *builder) onlineNeeded(ctx context.Context, arch string) error {
	for _, image := range m.Images {
		if m.hasNeeded(image.Name, arch) {
			continue
		}
		m.doing(image.Name)
		r := m.registryOf(image.Name)
		config, err := r.configOf(ctx, image.Name, arch, func(ctx context.Context, digest string) error {
			return m.proveNeeded(ctx, r, image.Name, digest)
		})
		if m.later(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s for %s (%s): %w", image.Name, arch, image.By, err)
		}
		m.payload.Images = append(m.payload.Images, refitv1alpha1.ReleaseImage{Name: image.Name, OS: "linux", Arch: arch, Config: config})
	}
	return nil
}

// registryOf returns the registry of an image: that of upstream, or a mirror of it, or another one.
func (m *builder) registryOf(image string) *registry {
	host, _, _ := strings.Cut(image, "/")
	repository := cmp.Or(m.Online.Repository, Repository)
	switch _, its, _ := splitRepository(repository); host {
	case its:
		return newRegistry(repository, m.Online.Mirror)
	case dockerHub:
		return newRegistry(dockerHub, dockerHubServer)
	}
	return newRegistry(host, "")
}

// proveNeeded fails unless the Kubernetes project has signed an image of its registry, or the user
// has accepted the digest.
func (m *builder) proveNeeded(ctx context.Context, r *registry, image, digest string) error {
	key := image + "@" + digest
	if m.proven[key] {
		return nil
	}
	name, official := strings.CutPrefix(image[:strings.LastIndex(image, ":")], Repository+"/")
	if !official {
		if m.accepts(image, digest) {
			m.proven[key] = true
			return nil
		}
		return &unconfirmedError{content: image, digest: digest}
	}
	repository, _ := r.split(image)
	fetch := func(ctx context.Context, kind, reference string, limit int64) ([]byte, error) {
		return r.get(ctx, repository, kind, reference, limit)
	}
	err := m.prove(ctx, image, digest, func(by upstream.Sigstore) error { return by.Image(ctx, Repository+"/"+name, digest, fetch) })
	m.proven[key] = err == nil
	return err
}
