package packages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

// archive is a package file, with the name, version and architecture from its control file.
type archive struct{ path, name, version, arch string }

// readArchives makes the paths absolute: a package manager could read another one as an option.
func readArchives(ctx context.Context, files []string, read func(context.Context, string) (archive, error)) ([]archive, error) {
	var archives []archive
	for _, file := range files {
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, fmt.Errorf("cannot find %s: %w", file, err)
		}
		a, err := read(ctx, path)
		if err != nil {
			return nil, err
		}
		if slices.Contains(namesOf(archives), a.name) {
			return nil, node.ManualIntervention("DuplicatePackage", nil,
				"Create a ClusterRelease that has each package once per platform: `refit release create`",
				"there are two files of package %s", a.name)
		}
		archives = append(archives, a)
	}
	return archives, nil
}

func readDeb(ctx context.Context, path string) (archive, error) {
	if _, err := os.Stat(path); err != nil {
		return archive{}, fmt.Errorf("cannot find package file: %w", err)
	}
	out, err := output(exec.CommandContext(ctx, "dpkg-deb", "--show",
		`--showformat=${Package}\t${Version}\t${Architecture}`, path))
	if ctx.Err() != nil {
		return archive{}, ctx.Err()
	}
	f := strings.Split(strings.TrimSpace(out), "\t")
	if err == nil && (len(f) != 3 || checkNames(f[:1]) != nil) {
		err = errors.New(out)
	}
	if err != nil {
		return archive{}, node.ManualIntervention("PackageUnreadable", err,
			"Check the file at its source (`refit release verify`), then run `refit retry`",
			"%s is not a package that dpkg can read", path)
	}
	return archive{path: path, name: f[0], version: f[1], arch: f[2]}, nil
}

// Extract copies a file that is no link.
func (deb) Extract(ctx context.Context, file, name, to string) error {
	dir, err := os.MkdirTemp(filepath.Dir(to), ".extract-")
	if err != nil {
		return fmt.Errorf("cannot unpack %s: %w", file, err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if _, err := output(exec.CommandContext(ctx, "dpkg-deb", "--extract", file, dir)); err != nil {
		return wrap(err, "cannot unpack %s", file)
	}
	if err := os.Rename(filepath.Join(dir, name), to); err != nil {
		return fmt.Errorf("cannot unpack %s: %w", file, err)
	}
	return nil
}

func namesOf(archives []archive) []string {
	names := make([]string, 0, len(archives))
	for _, a := range archives {
		names = append(names, a.name)
	}
	return names
}

func pathsOf(archives []archive) []string {
	paths := make([]string, 0, len(archives))
	for _, a := range archives {
		paths = append(paths, a.path)
	}
	return paths
}

// text lists archives for a message: "kubelet 1.36.3-1.1, kubeadm 1.36.3-1.1".
func text(archives []archive) string {
	all := make([]string, 0, len(archives))
	for _, a := range archives {
		all = append(all, a.name+" "+a.version)
	}
	return strings.Join(all, ", ")
}
