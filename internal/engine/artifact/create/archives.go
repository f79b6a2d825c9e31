package create

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/upstream"
)

// maxArchive is the maximum size of an archive of upstream.
const maxArchive = 512 << 20

// upstreamArchive is an archive of upstream for one platform.
type upstreamArchive struct {
	part     refitv1alpha1.Part
	project  string
	base     string
	tag      string // also the version that its binaries print
	file     string
	checksum string // what the name of the document with the checksum adds to that of the file
}

func (p *upstreamArchive) address() string {
	return strings.TrimSuffix(p.base, "/") + "/" + p.tag + "/" + p.file
}

// archives returns the archives of the versions of a ClusterRelease, in the layout of upstream.
func (m *builder) archives(arch string) []upstreamArchive {
	containerd, cni := strings.TrimPrefix(m.payload.Containerd, "v"), strings.TrimPrefix(m.payload.CNIPlugins, "v")
	all := []upstreamArchive{
		{
			part: refitv1alpha1.PartContainerd, project: "containerd", base: cmp.Or(m.Online.ContainerdDownloads, ContainerdDownloads),
			tag: "v" + containerd, file: "containerd-" + containerd + "-linux-" + arch + ".tar.gz", checksum: ".sha256sum",
		},
		{
			part: refitv1alpha1.PartCNI, project: "cni-plugins", base: cmp.Or(m.Online.CNIDownloads, CNIDownloads),
			tag: "v" + cni, file: "cni-plugins-linux-" + arch + "-v" + cni + ".tgz", checksum: ".sha256",
		},
	}
	return slices.DeleteFunc(all, func(p upstreamArchive) bool {
		return p.tag == "v" || m.hasFile(refitv1alpha1.PackageBinary, p.part, arch) || !m.Online.has(p.part, refitv1alpha1.PackageBinary)
	})
}

// onlineArchives adds the binaries in the archives of upstream. Their digests are only in the
// archives, so it downloads those, after their own digests are proven.
func (m *builder) onlineArchives(ctx context.Context, arch string) error {
	for _, p := range m.archives(arch) {
		err := m.addPublished(ctx, p, arch)
		if err != nil && !m.later(err) {
			return err
		}
	}
	return nil
}

func (m *builder) addPublished(ctx context.Context, p upstreamArchive, arch string) error {
	address := p.address()
	document, err := m.web().Get(ctx, address+p.checksum, maxDocument)
	if err != nil {
		return err
	}
	sum, ok := checksumOf(document, p.file)
	if !ok || !hexPattern.MatchString(sum) {
		return fmt.Errorf("the published checksum of %s is invalid", address)
	}
	digest := "sha256:" + sum
	if err := m.proveUnsigned(p.project+"/"+p.tag+"/"+p.file, address, digest); err != nil {
		return err
	}
	file, err := os.CreateTemp("", "refit-archive-")
	if err != nil {
		return err
	}
	defer func() {
		_ = file.Close() // it was only read
		_ = os.Remove(file.Name())
	}()
	blob, err := m.download(ctx, address, digest, file)
	if err != nil {
		return err
	}
	files, err := m.membersOf(ctx, p, arch, file)
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	for _, f := range files {
		f.Archive.Blob = blob
		m.payload.Files = append(m.payload.Files, f)
	}
	return nil
}

// download downloads an archive, and fails if it has another digest.
func (m *builder) download(ctx context.Context, address, digest string, to *os.File) (refitv1alpha1.Blob, error) {
	sum := sha256.New()
	size, err := m.web().Download(ctx, address, maxArchive, io.MultiWriter(to, sum))
	if err != nil {
		return refitv1alpha1.Blob{}, err
	}
	if got := "sha256:" + hex.EncodeToString(sum.Sum(nil)); got != digest {
		return refitv1alpha1.Blob{}, fmt.Errorf("%s has the digest %s, and not %s as its checksum claims", address, got, digest)
	}
	if _, err := to.Seek(0, io.SeekStart); err != nil {
		return refitv1alpha1.Blob{}, err
	}
	return refitv1alpha1.Blob{Digest: digest, Size: size, Path: upstream.PathOf(address), URLs: []string{address}}, nil
}

// membersOf returns the binaries of a part in its archive that the hosts have.
func (m *builder) membersOf(ctx context.Context, p upstreamArchive, arch string, from io.Reader) (out []refitv1alpha1.ReleaseFile, err error) {
	err = artifact.WalkArchive(ctx, from, func(member artifact.Member) error {
		name := path.Base(member.Path)
		if part, known := artifact.PartOfBinary(name); !known || part != p.part || !m.wants(p.part, name) {
			return nil
		}
		if slices.ContainsFunc(out, func(f refitv1alpha1.ReleaseFile) bool { return f.Name == name }) {
			return fmt.Errorf("it has two files %s", name)
		}
		sum := sha256.New()
		size, err := io.Copy(sum, member.Content)
		if err != nil {
			return err
		}
		out = append(out, refitv1alpha1.ReleaseFile{
			Part: p.part, Name: name, Kind: refitv1alpha1.PackageBinary, OS: "linux", Arch: arch, Version: p.tag,
			Blob:    refitv1alpha1.Blob{Digest: "sha256:" + hex.EncodeToString(sum.Sum(nil)), Size: size},
			Archive: &refitv1alpha1.ReleaseArchive{Member: member.Path},
		})
		return nil
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("it has no binary of %s that the hosts have", p.part)
	}
	return out, err
}

// wants reports whether a host has a binary.
func (m *builder) wants(part refitv1alpha1.Part, name string) bool {
	return part != refitv1alpha1.PartCNI || len(m.Online.Plugins) == 0 || slices.Contains(m.Online.Plugins, name)
}
