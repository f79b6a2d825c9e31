package redact

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// headers returns a finder of the values of a header: `Name: x`, `"Name":["x"]`, `Name=x`. A value
// may have quotes, so only what encloses the header ends it.
func headers(name string) func(string) []span {
	expression := regexp.MustCompile(`(["']?)` + name + `\\*["']?\s*[:=]\s*(\[?)`)
	return func(line string) (out []span) {
		for _, at := range expression.FindAllStringSubmatchIndex(line, -1) {
			value := valueAt(line, at[1], true)
			if value.from == at[1] {
				ends := line[at[2]:at[3]] + strings.Repeat("]", at[5]-at[4])
				if end := strings.IndexAny(line[value.from:value.to], ends); end >= 0 {
					value.to = value.from + len(strings.TrimRight(line[value.from:value.from+end], `\`))
				}
			}
			if text := strings.TrimSpace(line[value.from:value.to]); !harmlessValue(text) {
				out = append(out, value)
			}
		}
		return out
	}
}

// bootstrapTokens finds tokens like abcdef.0123456789abcdef, but no parts of names.
func bootstrapTokens(line string) (out []span) {
	const id, secret = 6, 16
	for at := range len(line) {
		from, to := at-id, at+1+secret
		if line[at] != '.' || from < 0 || to > len(line) || !lowerAlphanumeric(line[from:at]) || !lowerAlphanumeric(line[at+1:to]) {
			continue
		}
		if (from > 0 && partOfName(line[from-1])) || (to < len(line) && partOfName(line[to]) && strings.TrimRight(line[to:], ". \t\"',;") != "") {
			continue
		}
		out = append(out, span{from: from, to: to})
	}
	return out
}

func lowerAlphanumeric(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func partOfName(c byte) bool { return isBase64(c) || c == '.' || c == '-' || c == '_' }

var bearer = regexp.MustCompile(`(?i)\bbearer[\s:=\\"']+([\w.~+/-]{8,}=*)`)

// bearers finds tokens after the word bearer, but no words of a sentence.
func bearers(line string) (out []span) {
	for _, s := range all(bearer, 1, line) {
		if token := line[s.from:s.to]; len(token) > 20 || strings.ContainsAny(token, "0123456789.~+/=_") {
			out = append(out, s)
		}
	}
	return out
}

var basic = regexp.MustCompile(`(?i)\bbasic[\s:=\\"']+([A-Za-z0-9+/]{4,}={0,2})`)

func basicAuth(line string) (out []span) {
	for _, s := range all(basic, 1, line) {
		if userAndPassword(line[s.from:s.to]) {
			out = append(out, s)
		}
	}
	return out
}

var dockerAuth = regexp.MustCompile(`\bauth\\*["']?\s*[:=]\s*`)

func dockerAuths(line string) (out []span) {
	for _, at := range dockerAuth.FindAllStringIndex(line, -1) {
		if s := valueAt(line, at[1], false); userAndPassword(line[s.from:s.to]) {
			out = append(out, s)
		}
	}
	return out
}

// userAndPassword is true for base64 of a user and a password.
func userAndPassword(text string) bool {
	decoded, ok := decode(text)
	return ok && strings.Contains(string(decoded), ":")
}

func decode(text string) ([]byte, bool) {
	text = strings.TrimRight(text, "=")
	if len(text)%4 == 1 {
		text = text[:len(text)-1]
	}
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	decoded, err := encoding.DecodeString(text)
	return decoded, err == nil && len(decoded) > 0
}

var (
	urlPassword = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*:(?:\\*/){2}[^\s/?#:@"'\\]*:([^\s/?#"'\\]+)@`)
	urlToken    = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*:(?:\\*/){2}([^\s/?#:@"'\\]{16,})@`)
)

// urlPasswords finds passwords, and tokens in the place of a user.
func urlPasswords(line string) []span {
	return append(all(urlPassword, 1, line), all(urlToken, 1, line)...)
}
