package node

import (
	"regexp"
	"strings"
)

const redacted = "[redacted]"

// secrets are what a program could say that nobody else may read. What names a secret stays, so that a person sees what it was.
var secrets = []struct {
	what    *regexp.Regexp
	instead string
}{
	// Private keys, also one whose end or beginning was cut off.
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`), redacted},
	{regexp.MustCompile(`(?:[A-Za-z0-9+/=]+\r?\n)*-----END [A-Z ]*PRIVATE KEY-----`), redacted},
	{regexp.MustCompile(`\bLS0tLS1CRUdJTi[A-Za-z0-9+/]+=*`), redacted}, // The same in base64, as kubeconfigs have it.
	// Bootstrap tokens and JSON web tokens.
	{regexp.MustCompile(`\b[a-z0-9]{6}\.[a-z0-9]{16}\b|\beyJ[\w-]+\.[\w-]+\.[\w-]+`), redacted},
	// What is sent to log in.
	{regexp.MustCompile(`(?i)\b(authorization["']?[:=] *["']?basic |bearer )[^\s"']+`), "${1}" + redacted},
	// Passwords in URLs, signed or not. A password may have any character but those that end the host's part.
	{regexp.MustCompile(`(\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#:@"']*:)[^\s/?#"']*@`), "${1}" + redacted + "@"},
	{regexp.MustCompile(`(?i)([?&][\w.-]*(?:token|signature|sig|password|passwd|secret|key)=)[^\s&"']+`), "${1}" + redacted},
	// Flags and fields whose name says what they are.
	{regexp.MustCompile(`(?i)(--?[\w-]*(?:token|password|passwd|secret|certificate-key|api-key)["']?[ =]["']?)[^\s"']+`), "${1}" + redacted},
	{regexp.MustCompile(`(?i)((?:token|password|passwd|certificate-?key|client-key-data)["']?(?:: ?|=)["']?)[^\s"',]+`), "${1}" + redacted},
}

// keyOrDigest is a certificate key, or a digest with what tells that it is one: it is behind its algorithm, or the name of a file.
var keyOrDigest = regexp.MustCompile(`(?:sha256:|/)?\b[0-9a-f]{64}\b`)

// Redact takes secrets out of what is told: bearer tokens, private keys, bootstrap tokens, certificate keys, passwords in URLs or flags.
func Redact(text string) string {
	for _, secret := range secrets {
		text = secret.what.ReplaceAllString(text, secret.instead)
	}
	return keyOrDigest.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "sha256:") || strings.HasPrefix(found, "/") {
			return found
		}
		return redacted
	})
}
