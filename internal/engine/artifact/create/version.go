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

// versionOf tells which version a program is: by asking it where it runs here, else by what its builder left in it, else by what was asked for.
func (m *making) versionOf(ctx context.Context, full, path string, f refitv1alpha1.ReleaseFile) (string, error) {
	if f.OS == runtime.GOOS && f.Arch == runtime.GOARCH {
		if version, err := m.ask(ctx, full, path, f.Name); version != "" || err != nil {
			return version, err
		}
	}
	if version := built(full); version != "" {
		return version, nil
	}
	wanted := m.wanted(f.Part)
	if wanted == "" {
		return "", nil // choose tells of it if the part is not left out
	}
	// What is taken on trust here is asked on the host, before anything is changed.
	if f.Part != refitv1alpha1.PartKubeadm && f.Part != refitv1alpha1.PartKubelet && f.Part != refitv1alpha1.PartKubectl {
		m.warn("%s cannot be asked for its version here, and is taken for %s", path, wanted)
		return wanted, nil
	}
	content, err := os.ReadFile(full)
	if err != nil {
		return "", err
	}
	if !bytes.Contains(content, []byte(wanted)) {
		return "", nil
	}
	m.warn("%s cannot be asked for its version here, and is taken for %s, which is written in it", path, wanted)
	return wanted, nil
}

func (m *making) ask(ctx context.Context, full, path, name string) (string, error) {
	program, remove, err := runnable(full)
	if err != nil {
		return "", err
	}
	defer remove()
	version, err := artifact.ProgramVersion(ctx, program, name)
	if err != nil && ctx.Err() == nil {
		m.warn("%s: %v", path, err)
		return "", nil
	}
	return version, err
}

// runnable is a program as it can be run: where it lies, or, since downloads are not executable, as a copy.
func runnable(full string) (program string, remove func(), err error) {
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
	remove = func() { _ = os.RemoveAll(dir) } // what is left of it is in the directory for such things
	program = filepath.Join(dir, "program")
	if err := copyTo(program, full); err != nil {
		remove()
		return "", nil, err
	}
	return program, remove, nil
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
		_ = out.Close() // the first error says more
		return err
	}
	return out.Close()
}

// built reads the version that a Go program was built with.
func built(path string) string {
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

// wanted is the version that was asked for, as programs of the part write it.
func (m *making) wanted(part refitv1alpha1.Part) string {
	version := m.chosen(part)
	if version == "" || part == refitv1alpha1.PartRunc {
		return version
	}
	return "v" + strings.TrimPrefix(version, "v")
}

// chosen is the version that was asked for.
func (m *making) chosen(part refitv1alpha1.Part) string {
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
