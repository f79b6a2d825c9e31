package cri

import "strings"

// settings are the values of a TOML file by their full keys, as text: enough to compare what two of containerd's configurations say. Keys are joined by
// newlines, because they contain dots. Strings lose their quotes, lists their spaces. Inline tables stay text.
type settings map[string]string

func (s settings) has(key ...string) bool {
	_, ok := s[strings.Join(key, "\n")]
	return ok
}

func (s settings) get(key ...string) string { return s[strings.Join(key, "\n")] }

// below says whether anything is set below a key.
func (s settings) below(key ...string) bool {
	prefix := strings.Join(key, "\n") + "\n"
	for k := range s {
		if strings.HasPrefix(k, prefix) {
			return true
		}
	}
	return false
}

func readSettings(text string) settings {
	found := settings{}
	var table []string
	rest := text
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\n")
		rest = after
		line = strings.TrimSpace(withoutComment(line))
		switch {
		case line == "":
		case strings.HasPrefix(line, "["):
			table, _ = readKey(strings.Trim(line, "[]"))
		default:
			key, value := readKey(line)
			value = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(value), "="))
			for open(value) && rest != "" {
				line, rest, _ = strings.Cut(rest, "\n")
				value += strings.TrimSpace(withoutComment(line))
			}
			full := append(append([]string{}, table...), key...)
			found[strings.Join(full, "\n")] = normal(value)
		}
	}
	return found
}

// readKey reads a dotted key with its quotes, up to an equals sign.
func readKey(text string) (key []string, rest string) {
	var word strings.Builder
	var quote byte
	for i := range len(text) {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '"' || c == '\'':
			quote = c
		case c == '.':
			key = append(key, word.String())
			word.Reset()
		case c == '=':
			return append(key, word.String()), text[i:]
		case c == ' ' || c == '\t':
		default:
			word.WriteByte(c)
		}
	}
	return append(key, word.String()), ""
}

// scan calls f for each byte that is not within a string.
func scan(text string, f func(at int, c byte) (more bool)) {
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote == '"' && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		default:
			if !f(i, c) {
				return
			}
		}
	}
}

func withoutComment(line string) string {
	end := len(line)
	scan(line, func(at int, c byte) bool {
		if c == '#' {
			end = at
		}
		return c != '#'
	})
	return line[:end]
}

// open says that a list or a table goes on in the next line.
func open(value string) bool {
	depth := 0
	scan(value, func(_ int, c byte) bool {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		return true
	})
	return depth > 0
}

// normal writes a value in one way: lists without spaces, strings without quotes.
func normal(value string) string {
	var b strings.Builder
	var quote byte
	for i := range len(value) {
		c := value[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			b.WriteByte(c)
		case c == '"' || c == '\'':
			quote = c
		case c == ' ' || c == '\t':
		default:
			b.WriteByte(c)
		}
	}
	return strings.ReplaceAll(b.String(), ",]", "]")
}
