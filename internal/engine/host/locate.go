package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// LookPath returns the first of the names that is an executable in Path. It uses an absolute name
// as it is. It returns os.ErrNotExist if there is none.
func LookPath(names ...string) (string, error) {
	for _, name := range names {
		if filepath.IsAbs(name) {
			if executable(name) {
				return name, nil
			}
			continue
		}
		if name == "" || strings.ContainsRune(name, '/') {
			return "", fmt.Errorf("%q is not the name of a binary", name)
		}
		for dir := range strings.SplitSeq(Path, ":") {
			if path := filepath.Join(dir, name); executable(path) {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("cannot find %s in %s: %w", strings.Join(names, " or "), Path, os.ErrNotExist)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
