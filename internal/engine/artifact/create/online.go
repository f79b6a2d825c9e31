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
	Downloads           = "https://dl.k8s.io/release"
	ContainerdDownloads = "https://github.com/containerd/containerd/releases/download"
	RuncDownloads       = "https://github.com/opencontainers/runc/releases/download"
	CNIDownloads        = "https://github.com/containernetworking/plugins/releases/download"
	Repository          = "registry.k8s.io"
)

var hexPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// online adds files and images that are not in the folders from upstream: URLs, sizes and digests.
// It downloads archives, to learn what is in them, and no other files. The metadata of packages is
// signed; binaries of Kubernetes and images have signatures of their own. Those of runc, containerd
// and the CNI plugins are compared with a digest that is compiled into Refit or that the user
// accepts.
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
	for _, kind := range []refitv1alpha1.PackageKind{refitv1alpha1.PackageDeb, refitv1alpha1.PackageRpm} {
		if err := m.onlinePackages(ctx, kind); err != nil {
			return err
		}
	}
	for _, arch := range m.Online.Archs {
		for _, step := range []func(context.Context, string) error{m.onlineBinaries, m.onlineRunc, m.onlineArchives, m.onlineImages, m.onlineNeeded} {
			if err := step(ctx, arch); err != nil {
				return err
			}
		}
	}
	return m.checkConfirmed()
}

// web reads documents from servers.
func (m *builder) web() upstream.Web {
	return upstream.Web{Doing: m.doing}
}

func (m *builder) onlineBinaries(ctx context.Context, arch string) error {
	base := strings.TrimSuffix(cmp.Or(m.Online.Downloads, Downloads), "/")
	for _, part := range []refitv1alpha1.Part{refitv1alpha1.PartKubeadm, refitv1alpha1.PartKubelet, refitv1alpha1.PartKubectl} {
		name := string(part)
		if m.hasBinary(name, arch) || m.without(name) || !m.Online.has(part, refitv1alpha1.PackageBinary) {
			continue
		}
		address := fmt.Sprintf("%s/%s/bin/linux/%s/%s", base, m.Kubernetes, arch, name)
		sum, err := m.web().Get(ctx, address+".sha256", maxDocument)
		if err != nil {
			return err
		}
		file := refitv1alpha1.ReleaseFile{Part: part, Name: name, Kind: refitv1alpha1.PackageBinary, OS: "linux", Arch: arch, Version: m.Kubernetes}
		if err := m.publish(ctx, file, address, strings.TrimSpace(string(sum)), m.proveBinary); err != nil && !m.later(err) {
			return err
		}
	}
	return nil
}

func (m *builder) onlineRunc(ctx context.Context, arch string) error {
	part := refitv1alpha1.PartRunc
	if m.payload.Runc == "" || m.hasBinary("runc", arch) || !m.Online.has(part, refitv1alpha1.PackageBinary) {
		return nil
	}
	tag, name := "v"+m.payload.Runc, "runc."+arch
	base := strings.TrimSuffix(cmp.Or(m.Online.RuncDownloads, RuncDownloads), "/") + "/" + tag + "/"
	sums, err := m.web().Get(ctx, base+"runc.sha256sum", maxDocument)
	if err != nil {
		return err
	}
	sum, ok := checksumOf(sums, name)
	if !ok {
		return fmt.Errorf("runc %s is not published for %s", m.payload.Runc, arch)
	}
	file := refitv1alpha1.ReleaseFile{Part: part, Name: "runc", Kind: refitv1alpha1.PackageBinary, OS: "linux", Arch: arch, Version: m.payload.Runc}
	err = m.publish(ctx, file, base+name, sum, func(_ context.Context, address, digest string) error {
		return m.proveUnsigned("runc/"+tag+"/"+name, address, digest)
	})
	if m.later(err) {
		return nil
	}
	return err
}

// checksumOf returns the checksum of a file in a document of sha256sum.
func checksumOf(document []byte, name string) (string, bool) {
	lines := bufio.NewScanner(bytes.NewReader(document))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 2 && strings.TrimPrefix(strings.TrimPrefix(fields[1], "*"), "./") == name {
			return fields[0], true
		}
	}
	return "", false
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
		if m.later(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s for %s: %w", image, arch, err)
		}
		m.payload.Images = append(m.payload.Images, refitv1alpha1.ReleaseImage{
			Name: image, OS: "linux", Arch: arch, ControlPlane: c.controlPlane, Config: digest,
		})
	}
	return nil
}
