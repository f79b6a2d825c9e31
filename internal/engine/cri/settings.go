package cri

import (
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// settings has the values of a TOML file as text, by their full keys: enough to compare two
// configurations of containerd. Keys are joined with newlines, because they contain dots.
type settings map[string]string

func (s settings) has(key ...string) bool {
	_, ok := s[strings.Join(key, "\n")]
	return ok
}

func (s settings) get(key ...string) string { return s[strings.Join(key, "\n")] }

// below reports whether anything is set below a key.
func (s settings) below(key ...string) bool {
	prefix := strings.Join(key, "\n") + "\n"
	for k := range s {
		if strings.HasPrefix(k, prefix) {
			return true
		}
	}
	return false
}

func readSettings(text string) (settings, error) {
	var tree map[string]any
	if err := toml.Unmarshal([]byte(text), &tree); err != nil {
		return nil, err
	}
	found := settings{}
	found.add("", tree)
	return found, nil
}

func (s settings) add(key string, value any) {
	table, ok := value.(map[string]any)
	if !ok {
		s[key] = valueText(value)
		return
	}
	for name, below := range table {
		s.add(strings.TrimPrefix(key+"\n"+name, "\n"), below)
	}
}

func valueText(value any) string {
	list, ok := value.([]any)
	if !ok {
		return fmt.Sprint(value)
	}
	words := make([]string, len(list))
	for i, each := range list {
		words[i] = valueText(each)
	}
	return "[" + strings.Join(words, ",") + "]"
}
