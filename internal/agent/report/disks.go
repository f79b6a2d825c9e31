package report

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
)

// need is the disk space that the upgrade needs in a directory.
type need struct {
	path  string
	bytes int64
}

// Disk space besides the store: a package is unpacked, and the previous one is kept; an image is
// unpacked next to its layers.
const (
	unpackedPackage = 4
	unpackedImage   = 3
	ownFiles        = 64 << 20 // journal, saved configuration
)

// disks reports each file system once, under the first of its directories, with everything that is
// needed there.
func disks(ctx context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	var facts []refitv1alpha1.DiskFacts
	var readOnly []string
	var problems []error
	at := map[uint64]int{}
	for _, n := range s.needs(ctx) {
		dir := s.existing(n.path)
		device, err := deviceOf(dir)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		free, err := host.Free(dir)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if free.ReadOnly && !slices.Contains(readOnly, n.path) {
			readOnly = append(readOnly, n.path)
		}
		i, known := at[device]
		if !known {
			i, at[device] = len(facts), len(facts)
			inodes := int32(free.InodesPercent)
			facts = append(facts, refitv1alpha1.DiskFacts{Path: n.path, FreeMiB: rounded(int64(free.Bytes >> 20)), FreeInodesPercent: &inodes})
		}
		facts[i].NeededMiB += (n.bytes + 1<<20 - 1) >> 20
	}
	return func(to *refitv1alpha1.NodeReportStatus) { to.Disks, to.ReadOnlyPaths = facts, readOnly }, errors.Join(problems...)
}

// rounded is coarse for large values.
func rounded(mib int64) int64 {
	const coarse, fine, much = 256, 16, 4096
	if mib >= much {
		return mib / coarse * coarse
	}
	return mib / fine * fine
}

func (s *Sources) needs(ctx context.Context) []need {
	binaries := "/usr/bin"
	if kubelet, err := s.kubeletBinary(ctx); err == nil {
		binaries = filepath.Dir(kubelet)
	}
	store, installed, images := s.releaseBytes(ctx)
	all := []need{
		{s.Settings.StateDir, store}, {binaries, installed}, {containerdDir, images}, {kubernetesDir, 0}, {kubeletDir, 0},
	}
	if s.Release != nil {
		all[0].bytes += ownFiles
	}
	all = append(all, s.otherBinaries(ctx)...)
	if s.controlPlane() {
		all = append(all, need{manifestsDir, 0}) // it can be a mount of its own
	}
	if s.controlPlane() && s.exists(etcdDir) {
		all = append(all, need{etcdDir, 0})
	}
	return slices.DeleteFunc(all, func(n need) bool { return n.path == "" })
}

// otherBinaries returns the directories of the parts of the ClusterRelease that need not be beside
// the kubelet: on hosts with a read-only /usr, only the kubelet is in /opt/bin. Their space counts
// with the kubelet's.
func (s *Sources) otherBinaries(ctx context.Context) []need {
	if s.Release == nil {
		return nil
	}
	files, err := s.releaseFiles(ctx)
	if err != nil {
		return nil
	}
	var dirs []need
	for _, f := range files {
		path := ""
		switch f.Part {
		case refitv1alpha1.PartContainerd, refitv1alpha1.PartRunc, refitv1alpha1.PartKubeadm, refitv1alpha1.PartKubectl:
			path, _ = host.LookPath(string(f.Part))
		case refitv1alpha1.PartCNI:
			path = cniDir + "/loopback"
		case refitv1alpha1.PartKubelet:
		}
		if resolved, err := filepath.EvalSymlinks(path); err == nil && path != "" {
			dirs = append(dirs, need{filepath.Dir(resolved), 0})
		}
	}
	return dirs
}

// releaseBytes returns the sizes of missing blobs of the ClusterRelease, of its installed files,
// and of missing images.
func (s *Sources) releaseBytes(ctx context.Context) (store, installed, images int64) {
	if s.Release == nil {
		return 0, 0, 0
	}
	files, err := s.releaseFiles(ctx)
	if err != nil {
		return 0, 0, 0
	}
	archives := map[string]bool{}
	for _, f := range files {
		if !s.Release.Store.Has(f.Blob) {
			store += f.Size
			if a := f.Archive; a != nil && !archives[a.Digest] && !s.Release.Store.Has(a.Blob) {
				archives[a.Digest] = true // several files may be in one
				store += a.Size
			}
		}
		if f.Kind == refitv1alpha1.PackageBinary {
			installed += f.Size
		} else {
			installed += f.Size * unpackedPackage
		}
	}
	missing, err := s.missingImages(ctx)
	if err != nil {
		return store, installed, 0
	}
	for _, image := range missing {
		if image.Archive == nil {
			continue
		}
		if !s.Release.Store.Has(*image.Archive) {
			store += image.Archive.Size
		}
		images += image.Archive.Size * unpackedImage
	}
	return store, installed, images
}

// existing returns a directory, or its nearest existing parent.
func (s *Sources) existing(dir string) string {
	for path := s.path(dir); ; path = filepath.Dir(path) {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return path
		}
	}
}

func deviceOf(path string) (uint64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	return stat.Dev, nil
}
