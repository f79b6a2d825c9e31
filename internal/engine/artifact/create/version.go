package create

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

var (
	flagVersion = regexp.MustCompile(`\.(?:gitVersion|Version|version|BuildVersion|buildVersion)=(v?[0-9]+\.[0-9]+\.[0-9]+\S*?)['"]?(?:\s|$)`)
	realVersion = regexp.MustCompile(`^v?[0-9]+\.[0-9]+\.[0-9]+$`)
)

// versionOf returns the version of a binary: as it prints it if it runs on this host, else from its
// build information, else the requested version.
func (m *builder) versionOf(ctx context.Context, full, path string, f refitv1alpha1.ReleaseFile) (string, error) {
	if f.OS == runtime.GOOS && f.Arch == runtime.GOARCH {
		if version, err := m.queryVersion(ctx, full, path, f.Name); version != "" || err != nil {
			return version, err
		}
	}
	if version := buildVersion(full); version != "" {
		return version, nil
	}
	requested := m.requestedTag(f.Part)
	if requested == "" {
		return "", nil // choose reports it if the part is not excluded
	}
	// The host checks the version before it changes anything.
	if f.Part != refitv1alpha1.PartKubeadm && f.Part != refitv1alpha1.PartKubelet && f.Part != refitv1alpha1.PartKubectl {
		m.warn("cannot check the version of %s on this host, assuming %s", path, requested)
		return requested, nil
	}
	content, err := os.ReadFile(full)
	if err != nil {
		return "", err
	}
	if !bytes.Contains(content, []byte(requested)) {
		return "", nil
	}
	m.warn("cannot check the version of %s on this host, assuming %s, which it contains", path, requested)
	return requested, nil
}

func (m *builder) queryVersion(ctx context.Context, full, path, name string) (string, error) {
	binary, remove, err := runnable(full)
	if err != nil {
		return "", err
	}
	defer remove()
	version, err := artifact.BinaryVersion(ctx, binary, name)
	if err != nil && ctx.Err() == nil {
		m.warn("%s: %v", path, err)
		return "", nil
	}
	return version, err
}

// runnable returns the path of an executable binary: its own, or that of a copy, since downloads
// are not executable.
func runnable(full string) (path string, remove func(), err error) {
	info, err := os.Stat(full)
	if err != nil {
		return "", nil, err
	}
	if info.Mode().Perm()&0o111 != 0 {
		return full, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "refit-release-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // the system cleans up its temporary directory
	path = filepath.Join(dir, "binary")
	if err := copyTo(path, full); err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}

func copyTo(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close() // the first error has the cause
		return err
	}
	return out.Close()
}

// buildVersion returns the version in the build information of a Go binary.
func buildVersion(path string) string {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return ""
	}
	for _, setting := range info.Settings {
		if match := flagVersion.FindStringSubmatch(setting.Value); setting.Key == "-ldflags" && match != nil {
			return match[1]
		}
	}
	if realVersion.MatchString(info.Main.Version) {
		return info.Main.Version
	}
	return ""
}

// requestedTag returns the requested version in the format of the binaries of the part.
func (m *builder) requestedTag(part refitv1alpha1.Part) string {
	version := m.requested(part)
	if version == "" || part == refitv1alpha1.PartRunc {
		return version
	}
	return "v" + strings.TrimPrefix(version, "v")
}

// requested returns the requested version of a part.
func (m *builder) requested(part refitv1alpha1.Part) string {
	switch part {
	case refitv1alpha1.PartContainerd:
		return m.Containerd
	case refitv1alpha1.PartRunc:
		return m.Runc
	case refitv1alpha1.PartCNI:
		return m.CNIPlugins
	case refitv1alpha1.PartKubeadm, refitv1alpha1.PartKubelet, refitv1alpha1.PartKubectl:
	}
	return m.Kubernetes
}
