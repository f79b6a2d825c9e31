package settings

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// renamed lists former names of settings and their current names.
var renamed = []struct{ from, to string }{
	{"asideAPIServer", "stopAPIServerDuringEtcdUpgrade"},
	{"patience", "timeouts"},
	{"reserveMiB", "reservedDiskMiB"},
}

// renames returns the renames that a file needs, or an empty string.
func renames(text []byte) string {
	var fields map[string]any
	if yaml.Unmarshal(text, &fields) != nil {
		return ""
	}
	var needed []string
	for _, r := range renamed {
		if _, has := fields[r.from]; has {
			needed = append(needed, fmt.Sprintf("%s to %s", r.from, r.to))
		}
	}
	if len(needed) == 0 {
		return ""
	}
	return "Rename " + strings.Join(needed, " and ")
}
