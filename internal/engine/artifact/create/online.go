package create

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/upstream"
)

// The default addresses of upstream.
const (
	Downloads     = "https://dl.k8s.io/release"
	RuncDownloads = "https://github.com/opencontainers/runc/releases/download"
	Repository    = "registry.k8s.io"
)

var hexPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// online adds files and images that are not in the folders from upstream: URLs, sizes and digests.
// It does not download the files. The metadata of packages is signed; binaries of Kubernetes and
// images have signatures of their own. Of runc, only TLS proves the origin of the digest.
func (m *builder) online(ctx context.Context) error {
	if m.Online == nil {
		return nil
	}
	if len(m.Online.Archs) == 0 {
		return errors.New("no platform is given: upstream has files for several")
	}
	online := *m.Online // a user may name a platform twice
	online.Archs = slices.Compact(slices.Sorted(slices.Values(online.Archs)))
	m.Online = &online
	for _, kind := range m.Online.Kinds {
		if kind == refitv1alpha1.PackageBinary {
			continue
		}
		if err := m.onlinePackages(ctx, kind); err != nil {
			return err
		}
	}
	for _, arch := range m.Online.Archs {
		for _, step := range []func(context.Context, string) error{m.onlineBinaries, m.onlineRunc, m.onlineImages} {
			if err := step(ctx, arch); err != nil {
				return err
			}
		}
	}
	return nil
}

// web reads documents from servers.
func (m *builder) web() upstream.Web {
	return upstream.Web{Doing: m.doing}
}

func (m *builder) onlineBinaries(ctx context.Context, arch string) error {
	base := strings.TrimSuffix(cmp.Or(m.Online.Downloads, Downloads), "/")
	for _, part := range []refitv1alpha1.Part{refitv1alpha1.PartKubeadm, refitv1alpha1.PartKubelet, refitv1alpha1.PartKubectl} {
		name := string(part)
		if m.hasBinary(name, arch) || m.without(name) || !m.Online.binaries() {
			continue
		}
		address := fmt.Sprintf("%s/%s/bin/linux/%s/%s", base, m.Kubernetes, arch, name)
		sum, err := m.web().Get(ctx, address+".sha256", maxDocument)
		if err != nil {
			return err
		}
		file := refitv1alpha1.ReleaseFile{Part: part, Name: name, Kind: refitv1alpha1.PackageBinary, OS: "linux", Arch: arch, Version: m.Kubernetes}
		if err := m.publish(ctx, file, address, strings.TrimSpace(string(sum)), m.proveBinary); err != nil {
			return err
		}
	}
	return nil
}

func (m *builder) onlineRunc(ctx context.Context, arch string) error {
	if m.payload.Runc == "" || m.hasBinary("runc", arch) || !m.Online.binaries() {
		return nil
	}
	base := fmt.Sprintf("%s/v%s/", strings.TrimSuffix(cmp.Or(m.Online.RuncDownloads, RuncDownloads), "/"), m.payload.Runc)
	sums, err := m.web().Get(ctx, base+"runc.sha256sum", maxDocument)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(sums))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 2 && strings.TrimPrefix(fields[1], "*") == "runc."+arch {
			file := refitv1alpha1.ReleaseFile{
				Part: refitv1alpha1.PartRunc, Name: "runc", Kind: refitv1alpha1.PackageBinary, OS: "linux", Arch: arch, Version: m.payload.Runc,
			}
			return m.publish(ctx, file, base+"runc."+arch, fields[0], func(_ context.Context, address, digest string) error {
				m.warn("no signature proves %s: its digest %s comes from the server of the file", address, digest)
				return nil
			})
		}
	}
	return fmt.Errorf("runc %s is not published for %s", m.payload.Runc, arch)
}

// publish adds a binary of upstream. The checksum is only a claim until it is proven.
func (m *builder) publish(
	ctx context.Context, file refitv1alpha1.ReleaseFile, address, sum string, prove func(ctx context.Context, address, digest string) error,
) error {
	if !hexPattern.MatchString(sum) {
		return fmt.Errorf("the published checksum of %s is invalid", address)
	}
	digest := "sha256:" + sum
	if err := prove(ctx, address, digest); err != nil {
		return err
	}
	size, err := m.web().Size(ctx, address, artifact.MaxBlob)
	if err != nil {
		return err
	}
	// The path is that in a mirror of upstream.
	file.Blob = refitv1alpha1.Blob{Digest: digest, Size: size, Path: upstream.PathOf(address), URLs: []string{address}}
	m.payload.Files = append(m.payload.Files, file)
	return nil
}

func (m *builder) hasBinary(name, arch string) bool {
	return slices.ContainsFunc(m.payload.Files, func(f refitv1alpha1.ReleaseFile) bool {
		return f.Name == name && f.Arch == arch && f.Kind == refitv1alpha1.PackageBinary
	})
}

func (m *builder) onlineImages(ctx context.Context, arch string) error {
	r := newRegistry(cmp.Or(m.Online.Repository, Repository), m.Online.Mirror)
	for _, c := range components {
		if m.without(c.name) || m.hasImage(c.name, arch) {
			continue
		}
		image := r.nameOf(c.name, m.tags[c.name])
		m.doing(image)
		digest, err := r.configOf(ctx, image, arch, func(ctx context.Context, digest string) error {
			return m.proveImage(ctx, r, c.name, image, digest)
		})
		if err != nil {
			return fmt.Errorf("%s for %s: %w", image, arch, err)
		}
		m.payload.Images = append(m.payload.Images, refitv1alpha1.ReleaseImage{
			Name: image, OS: "linux", Arch: arch, ControlPlane: c.controlPlane, Config: digest,
		})
	}
	return nil
}
