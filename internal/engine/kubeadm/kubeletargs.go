package kubeadm

import (
	"errors"
	"fmt"
	"strings"
)

// KubeletUnit is how systemd starts the kubelet.
type KubeletUnit struct {
	ExecStart        []string // binary and arguments, variables not expanded
	Environment      []string // NAME=value
	EnvironmentFiles [][]byte // contents in the order of the unit, without missing files
}

// KubeletArgs returns the arguments of the kubelet as systemd expands them: $NAME as a separate
// word becomes the words of the value, ${NAME} the value itself, $$ a dollar sign, and an unset
// variable nothing. Files override Environment=, later files earlier ones.
func KubeletArgs(unit KubeletUnit) ([]string, error) {
	if len(unit.ExecStart) == 0 {
		return nil, errors.New("the unit of the kubelet has no ExecStart")
	}
	set := map[string]string{}
	for _, assignment := range unit.Environment {
		name, value, _ := strings.Cut(assignment, "=")
		set[name] = value
	}
	for _, file := range unit.EnvironmentFiles {
		for _, a := range parseEnvironment(string(file)) {
			set[a.name] = a.value
		}
	}
	var args []string
	for _, word := range unit.ExecStart[1:] {
		if name, alone := wholeVariable(word); alone {
			words, err := splitWords(set[name])
			if err != nil {
				return nil, fmt.Errorf("cannot parse variable %s of the unit of the kubelet: %w", name, err)
			}
			args = append(args, words...)
			continue
		}
		args = append(args, expandWord(word, set))
	}
	return args, nil
}

// KubeletConfigFile returns the file of the flag --config, or "" without one. The last one counts.
func KubeletConfigFile(args []string) string {
	file := ""
	for i, arg := range args {
		name, value, has := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch {
		case name != "config" || !strings.HasPrefix(arg, "-"):
		case has:
			file = value
		case i+1 < len(args):
			file = args[i+1]
		}
	}
	return file
}

// wholeVariable returns the name of a word that is $NAME and nothing else.
func wholeVariable(word string) (string, bool) {
	name, found := strings.CutPrefix(word, "$")
	if !found || name == "" || strings.HasPrefix(name, "{") || strings.HasPrefix(name, "$") {
		return "", false
	}
	return name, nameLength(name) == len(name)
}

// expandWord replaces ${NAME} and $$ within a word. As in systemd, $NAME within a word stays as it
// is.
func expandWord(word string, set map[string]string) string {
	var out strings.Builder
	for word != "" {
		at := strings.IndexByte(word, '$')
		if at < 0 {
			break
		}
		out.WriteString(word[:at])
		word = word[at+1:]
		switch {
		case strings.HasPrefix(word, "$"):
			out.WriteByte('$')
			word = word[1:]
		case strings.HasPrefix(word, "{") && strings.Contains(word, "}"):
			name, rest, _ := strings.Cut(word[1:], "}")
			out.WriteString(set[name])
			word = rest
		default:
			out.WriteByte('$')
		}
	}
	return out.String() + word
}

// nameLength returns the length of the variable name at the beginning of a text.
func nameLength(text string) int {
	for i, c := range text {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(text)
}

// splitWords splits a text at white space, with quotes and backslash escapes.
func splitWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	within, escaped := false, false
	for _, c := range text {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			within, escaped = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			within, quote = true, c
		case quote == 0 && strings.ContainsRune(" \t\n\r", c):
			if within {
				words = append(words, word.String())
				word.Reset()
			}
			within = false
		default:
			word.WriteRune(c)
			within = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("unclosed quote")
	}
	if within {
		words = append(words, word.String())
	}
	return words, nil
}

// assignment is one line NAME=value of an environment file.
type assignment struct {
	name, value string
	from, to    int // offsets of the value in the file, including quotes
}

// parseEnvironment parses a file as EnvironmentFile= of systemd: comments begin with # or ;, values
// may be quoted and may have several lines.
func parseEnvironment(text string) []assignment {
	var found []assignment
	for at := 0; at < len(text); {
		end := at + strings.IndexByte(text[at:]+"\n", '\n')
		line := text[at:end]
		trimmed := strings.TrimLeft(line, " \t\r")
		name, _, assigned := strings.Cut(trimmed, "=")
		if trimmed == "" || strings.ContainsAny(trimmed[:1], "#;") || !assigned {
			at = end + 1
			continue
		}
		from := at + strings.IndexByte(line, '=') + 1
		value, length := environmentValue(text[from:])
		found = append(found, assignment{name: strings.TrimSpace(name), value: value, from: from, to: from + length})
		at = from + length + 1
	}
	return found
}

// environmentValue parses a value and returns its length up to the end of its line.
func environmentValue(text string) (string, int) {
	var value strings.Builder
	var quote byte
	trim := 0 // quoted white space is kept
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(text):
			i++
			if text[i] != '\n' {
				value.WriteByte(text[i])
				trim = value.Len()
			}
		case quote != 0 && c == quote:
			quote, trim = 0, value.Len()
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && c == '\n':
			return finish(value.String(), trim), i
		case quote == 0 && value.Len() == 0 && (c == ' ' || c == '\t'):
		default:
			value.WriteByte(c)
		}
	}
	return finish(value.String(), trim), len(text)
}

func finish(value string, keep int) string {
	return value[:keep] + strings.TrimRight(value[keep:], " \t\r")
}
