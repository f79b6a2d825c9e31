package rehearsal

import (
	"maps"
	"slices"
	"strings"
)

// flag is one flag of a command, with the words that it occupies.
type flag struct {
	name  string // normalized: without dashes in front, with dashes inside
	words []string
}

// parseFlags splits the arguments of a command. Neither etcd nor kube-apiserver has positional
// arguments, so a word without a dash is the value of the flag before it.
func parseFlags(command []string) []flag {
	var list []flag
	for _, word := range command[min(1, len(command)):] {
		if !strings.HasPrefix(word, "-") && len(list) > 0 {
			last := &list[len(list)-1]
			last.words = append(last.words, word)
			continue
		}
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		list = append(list, flag{name: strings.ReplaceAll(name, "_", "-"), words: []string{word}})
	}
	return list
}

// value returns the value of a flag; that of a switch is true.
func (f flag) value() string {
	if _, value, ok := strings.Cut(f.words[0], "="); ok {
		return value
	}
	if len(f.words) > 1 {
		return f.words[1]
	}
	return "true"
}

func sortedKeys[V any](all map[string]V) []string { return slices.Sorted(maps.Keys(all)) }
