package observe

import (
	"slices"
	"strings"
)

// pluginsIn are the plugins that a Corefile uses, sorted, each once. Their arguments are left out: some hold keys.
//
// A line within a server block begins with the name of a plugin; lines within a plugin's own braces are its arguments.
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
