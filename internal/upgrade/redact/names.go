package redact

import (
	"regexp"
	"strings"
)

// words are the parts of names of secrets.
const words = `password|passwd|passphrase|passcode|pwd|token|secret|credential|` +
	`(?:api|access|private|client|signing|encryption|certificate|account|master|shared|ssh|hmac|deploy)[_.-]?key|key[_-]data`

// name is a name with one of the words.
const name = `[A-Za-z0-9_.\-/]*(?i:` + words + `)[A-Za-z0-9_.\-]*`

// harmless ends the name of a field whose value only refers to a secret or describes it.
var harmless = regexp.MustCompile(`(?i)(?:names?|refs?|references?|files?|paths?|dirs?|directory|selector|types?|ttl|expir\w*|seconds|duration|timeout|` +
	`counts?|hash|size|length|version|namespace|enabled|requests?|url|uri|id|kind|algorithms?|policy|projection|mode|class|usages?|bits)$`)

// secretName is true for the name of a field with a secret.
func secretName(name string) bool { return wholeName.MatchString(name) && !harmless.MatchString(name) }

var wholeName = regexp.MustCompile(`^` + name + `$`)

// secretVariable is true for the name of an environment variable with a secret.
func secretVariable(name string) bool {
	upper := strings.ToUpper(name)
	for _, word := range []string{"TOKEN", "PASSW", "SECRET", "KEY", "CREDENTIAL"} {
		if strings.Contains(upper, word) {
			return true
		}
	}
	return false
}

// harmlessValue is true for a value that is no secret under any name.
func harmlessValue(value string) bool {
	switch strings.ToLower(value) {
	case "", "true", "false", "null", "nil", "~", "<nil>", "<none>", "<unset>", "|", "|-", "|+", ">", ">-", ">+":
		return true
	}
	// An object or a list of them: its fields have names of their own.
	return strings.HasPrefix(value, "{") || strings.HasPrefix(value, "map[") || strings.HasPrefix(value, "&{")
}

var (
	named     = regexp.MustCompile(`(` + name + `)\\*["']?\s*(?:=>|[:=])\s*`)
	variable  = regexp.MustCompile(`\b([A-Z][A-Z0-9_]*)=`)
	variables = regexp.MustCompile(`(?i)\\*["']?\bname\\*["']?\s*[:=]\s*\\*["']?([A-Za-z0-9_.-]+)\\*["']?\s*,\s*\\*["']?value\\*["']?\s*[:=]\s*`)
	flag      = regexp.MustCompile(`(?:^|[\s"'\[,(=:\x60])--?(` + name + `)(?:\\*["'],?\s*|\s+|=)`)
)

// namedValues finds `token: x`, `"password": "x"`, `clientSecret=x`, at any level of escaping.
func namedValues(line string) []span {
	return valuesAfter(named, line, secretName)
}

// envValues finds `DB_PASSWORD=x`, and name and value of an EnvVar.
func envValues(line string) []span {
	return append(valuesAfter(variable, line, secretVariable), valuesAfter(variables, line, secretVariable)...)
}

// flagValues finds `--token x`, `--token=x` and `"--token","x"`.
func flagValues(line string) []span {
	return valuesAfter(flag, line, secretName)
}

// valuesAfter returns the values after the matches of an expression whose first group is a name.
func valuesAfter(expression *regexp.Regexp, line string, secret func(string) bool) (out []span) {
	for at := 0; at < len(line); {
		found := expression.FindStringSubmatchIndex(line[at:])
		if found == nil {
			return out
		}
		end := at + found[1]
		if secret(line[at+found[2] : at+found[3]]) {
			value := valueAt(line, end, startsLine(line[:at+found[2]]) && strings.Contains(line[at+found[3]:end], ":"))
			if text := line[value.from:value.to]; !harmlessValue(text) && !isFlag(text) {
				out = append(out, value)
				end = max(end, value.to)
			}
		}
		at = end
	}
	return out
}

// isFlag is true for a flag in the place of a value, as after a flag without one.
func isFlag(text string) bool { return strings.HasPrefix(text, "--") }

// startsLine is true if only indentation of YAML comes before a name.
func startsLine(before string) bool { return strings.Trim(before, " \t-\"'") == "" }
