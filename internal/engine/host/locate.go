package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// LookPath is the first of the names that is a program, over Path. An absolute name is looked at as it is. Without one it says os.ErrNotExist.
func LookPath(names ...string) (string, error) {
	for _, name := range names {
		if filepath.IsAbs(name) {
			if program(name) {
				return name, nil
			}
			continue
		}
		if name == "" || strings.ContainsRune(name, '/') {
			return "", fmt.Errorf("%q is no name of a program", name)
		}
		for dir := range strings.SplitSeq(Path, ":") {
			if path := filepath.Join(dir, name); program(path) {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("no program %s in %s: %w", strings.Join(names, " or "), Path, os.ErrNotExist)
}

func program(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
