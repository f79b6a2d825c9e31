package builder

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Collect copies the binaries, packages and images of the release into a directory, like a mirror.
// It uses hard links on the file system of the cache.
func (r Release) Collect(dir string) error {
	from := slices.Concat(r.Debs, r.Rpms)
	for _, folder := range []string{r.ContainerdBin, r.CNIBin} {
		found, err := filepath.Glob(filepath.Join(folder, "*"))
		if err != nil {
			return err
		}
		from = append(from, found...)
	}
	for _, binary := range []string{"kubeadm", "kubelet", "kubectl"} {
		from = append(from, filepath.Join(r.Bin, binary))
	}
	for _, image := range r.Images {
		if !strings.HasPrefix(filepath.Base(image), "busybox") { // only for the testbed
			from = append(from, image)
		}
	}
	for _, file := range from {
		err := linkFile(file, filepath.Join(dir, filepath.Base(file)))
		if errors.Is(err, unix.EXDEV) {
			err = copyBinaries(filepath.Dir(file), dir, filepath.Base(file))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
