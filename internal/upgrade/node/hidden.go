package node

import "strings"

// privateDirs are directories of which the agent has its own (PrivateTmp in its unit).
var privateDirs = []string{"/tmp", "/var/tmp"}

// Hidden reports whether the agent cannot see a path of its host.
func Hidden(path string) bool {
	for _, dir := range privateDirs {
		if path == dir || strings.HasPrefix(path, dir+"/") {
			return true
		}
	}
	return false
}
