package steps

import (
	"context"
	"path/filepath"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// need is the disk space that an upgrade or its rollback needs in a directory.
type need struct {
	dir   string
	bytes int64
}

const (
	// usrDir is where packages install most of their files.
	usrDir = "/usr"
	// unpackedPackage is the size of the content of a package, as a multiple of its file.
	unpackedPackage = 5
	// configBytes is for the files that a rollback restores in one directory.
	configBytes = 4 << 20
)

// rollbackNeeds returns the disk space that a rollback needs: it unpacks the previous packages and
// restores configuration. It links swapped files back, which needs none.
func (h *Host) rollbackNeeds(files []refitv1alpha1.ReleaseFile) []need {
	var unpacked int64
	for _, f := range files {
		if f.Kind != refitv1alpha1.PackageBinary {
			unpacked += f.Size * unpackedPackage
		}
	}
	needs := []need{{h.Settings.StateDir, h.Settings.ReservedDiskMiB << 20}, {kubernetesDir, configBytes}, {kubeletDir, configBytes}}
	if unpacked > 0 { // without packages, it may be read-only
		needs = append(needs, need{usrDir, unpacked})
	}
	return needs
}

// upgradeNeeds returns the disk space that an upgrade needs in addition: binaries are staged beside
// the old ones, packages are unpacked, and some run from the state directory before that.
func (h *Host) upgradeNeeds(ctx context.Context, files []refitv1alpha1.ReleaseFile) ([]need, error) {
	var out []need
	for _, f := range files {
		size := f.Size
		if f.Kind != refitv1alpha1.PackageBinary {
			size *= unpackedPackage
		}
		dir := usrDir
		if f.Kind == refitv1alpha1.PackageBinary {
			path, err := BinaryPath(ctx, h.Systemd, f.Part, f.Name)
			if err != nil {
				return nil, err
			}
			dir = filepath.Dir(path)
		}
		out = append(out, need{dir, size})
		if toolOf(f) != "" {
			out = append(out, need{h.Settings.StateDir, size})
		}
	}
	return out, nil
}

// byFileSystem returns what is needed on each file system, under the first of its directories.
func byFileSystem(needs []need, device func(dir string) (uint64, error)) ([]need, error) {
	var out []need
	at := map[uint64]int{}
	for _, n := range needs {
		id, err := device(n.dir)
		if err != nil {
			return nil, err
		}
		i, known := at[id]
		if !known {
			at[id] = len(out)
			out = append(out, n)
			continue
		}
		out[i].bytes += n.bytes
	}
	return out, nil
}

func checkDiskSpace(ctx context.Context, h *Host) error {
	files, err := h.files()
	if err != nil {
		return err
	}
	more, err := h.upgradeNeeds(ctx, files)
	if err != nil {
		return err
	}
	all := append(h.rollbackNeeds(files), more...)
	if h.controlPlane() {
		all = append(all, need{ManifestsDir, 0})
	}
	if err := checkWritable(all); err != nil {
		return err
	}
	needs, err := byFileSystem(all, host.Device)
	if err != nil {
		return err
	}
	for _, n := range needs {
		if err := n.check(); err != nil {
			return err
		}
	}
	return nil
}

// checkWritable checks every directory: of one file system, some can be mounted read-only.
func checkWritable(needs []need) error {
	for _, n := range needs {
		free, err := host.Free(n.dir)
		if err != nil {
			return err
		}
		if free.ReadOnly {
			return node.HostBroken("ReadOnly", nil,
				"Find out why it is mounted read-only (`findmnt -T "+n.dir+"`, `dmesg`), make it writable, then run `refit retry`",
				"%s is on a read-only file system", n.dir)
		}
	}
	return nil
}

func (n need) check() error {
	free, err := host.Free(n.dir)
	switch {
	case err != nil:
		return err
	case free.Bytes < uint64(n.bytes):
		return node.ManualIntervention("DiskFull", nil, "Free disk space on the file system of "+n.dir+", then run `refit retry`",
			"%s has %d MiB of disk space left, the upgrade and its rollback need %d MiB", n.dir, free.Bytes>>20, n.bytes>>20)
	}
	return nil
}
