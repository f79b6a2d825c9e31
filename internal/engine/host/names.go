package host

import (
	"path/filepath"
	"strings"

	"github.com/refit-dev/refit/internal/engine/durable"
)

const (
	newSuffix = ".refit-new"
	oldSuffix = ".refit-old"
)

// beside returns a name of this package beside a path. It begins with a dot because the kubelet
// reads every other name in its manifests directory.
func beside(path, suffix string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+suffix)
}

// ours reports whether a file name is one of Refit's own.
func ours(name string) bool {
	return durable.IsTemp(name) ||
		strings.HasPrefix(name, ".") && (strings.HasSuffix(name, newSuffix) || strings.HasSuffix(name, oldSuffix))
}
