package kubeadm

import (
	"fmt"
	"strings"
)

// KubeletUnit is how systemd starts the kubelet.
type KubeletUnit struct {
	ExecStart        []string // program and arguments, variables not expanded
	Environment      []string // NAME=value
	EnvironmentFiles [][]byte // contents, in the order of the unit; absent ones left out
}

// KubeletArgs are the kubelet's arguments, without the program, as systemd expands them: $NAME as a word of its own becomes the words of the value,
// ${NAME} the value as it is, $$ a dollar sign; a variable that is not set is nothing. Files win over Environment=, later ones over earlier.
func KubeletArgs(unit KubeletUnit) ([]string, error) {
	if len(unit.ExecStart) == 0 {
		return nil, fmt.Errorf("the kubelet's unit starts no program")
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
				return nil, fmt.Errorf("reading the variable %s of the kubelet's unit: %w", name, err)
			}
			args = append(args, words...)
			continue
		}
		args = append(args, expandWord(word, set))
	}
	return args, nil
}

// wholeVariable finds a word that is $NAME and nothing else.
func wholeVariable(word string) (string, bool) {
	name, found := strings.CutPrefix(word, "$")
	if !found || name == "" || strings.HasPrefix(name, "{") || strings.HasPrefix(name, "$") {
		return "", false
	}
	return name, nameLength(name) == len(name)
}

// expandWord replaces ${NAME} and $$ within a word. $NAME within a word stays as it is, as in systemd.
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

// nameLength is how many characters at the beginning can be a variable's name.
func nameLength(text string) int {
	for i, c := range text {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(text)
}

// splitWords splits at white space. Quotes hold words together, a backslash takes the next character as it is.
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
		return nil, fmt.Errorf("a quote is not closed")
	}
	if within {
		words = append(words, word.String())
	}
	return words, nil
}

// assignment is one line NAME=value of an environment file.
type assignment struct {
	name, value string
	from, to    int // where the value stands in the file, quotes included
}

// parseEnvironment reads a file as systemd's EnvironmentFile= does: comments begin with # or ;, values can be quoted and can go over several lines.
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

// environmentValue reads a value, and says how many bytes it takes up to its line's end.
func environmentValue(text string) (string, int) {
	var value strings.Builder
	var quote byte
	trim := 0 // what is quoted is kept with its white space
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
