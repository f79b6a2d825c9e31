package durable

import (
	"path/filepath"
	"strings"
)

const tempSuffix = ".refit-tmp"

// Temp returns the temporary name beside a path. It begins with a dot because the kubelet reads
// every other name in its manifests directory.
func Temp(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+tempSuffix)
}

// IsTemp reports whether a file name is one that Temp returns.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, tempSuffix)
}
