package observe

import (
	"slices"
	"strings"
)

// pluginsIn returns the plugins of a Corefile, sorted, each once. It omits their arguments, which
// may contain keys.
//
// A line in a server block begins with the name of a plugin; lines in the braces of a plugin are
// its arguments.
func pluginsIn(corefile string) []string {
	var plugins []string
	depth := 0
	for line := range strings.Lines(corefile) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if name := words[0]; depth == 1 && !strings.ContainsAny(name, "{}") {
			plugins = append(plugins, name)
		}
		for _, word := range words {
			switch {
			case word == "{" || strings.HasSuffix(word, "{") && !strings.HasPrefix(word, "{"):
				depth++
			case word == "}":
				depth--
			}
		}
	}
	slices.Sort(plugins)
	return slices.Compact(plugins)
}
