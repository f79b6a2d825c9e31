package durable

import "path/filepath"

const tempSuffix = ".refit-tmp"

// Temp returns the temporary name beside a path. It begins with a dot because the kubelet reads
// every other name in its manifests directory.
func Temp(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+tempSuffix)
}
