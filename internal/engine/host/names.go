package host

import "path/filepath"

const (
	newSuffix = ".refit-new"
	oldSuffix = ".refit-old"
	// movedSuffix is the record that the file was removed and is to be replaced.
	movedSuffix = ".refit-moved"
)

// beside returns a name of this package beside a path. It begins with a dot because the kubelet
// reads every other name in its manifests directory.
func beside(path, suffix string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+suffix)
}
