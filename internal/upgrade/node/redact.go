package node

import (
	"regexp"
	"strings"
)

const redacted = "[redacted]"

// secrets are patterns of secrets in command output. The name of a secret is kept, to show
// what was redacted.
var secrets = []struct {
	what    *regexp.Regexp
	instead string
}{
	// Private keys, including truncated ones.
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`), redacted},
	{regexp.MustCompile(`(?:[A-Za-z0-9+/=]+\r?\n)*-----END [A-Z ]*PRIVATE KEY-----`), redacted},
	// The same in base64, as in kubeconfigs.
	{regexp.MustCompile(`\bLS0tLS1CRUdJTi[A-Za-z0-9+/]+=*`), redacted},
	// Bootstrap tokens and JSON web tokens.
	{regexp.MustCompile(`\b[a-z0-9]{6}\.[a-z0-9]{16}\b|\beyJ[\w-]+\.[\w-]+\.[\w-]+`), redacted},
	// Authorization headers.
	{regexp.MustCompile(`(?i)\b(authorization["']?[:=] *["']?basic |bearer )[^\s"']+`), "${1}" + redacted},
	// Passwords in URLs, and signed URLs.
	{regexp.MustCompile(`(\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#:@"']*:)[^\s/?#"']*@`), "${1}" + redacted + "@"},
	{regexp.MustCompile(`(?i)([?&][\w.-]*(?:token|signature|sig|password|passwd|secret|key)=)[^\s&"']+`), "${1}" + redacted},
	// Flags and fields that are named after a secret.
	{regexp.MustCompile(`(?i)(--?[\w-]*(?:token|password|passwd|secret|certificate-key|api-key)["']?[ =]["']?)[^\s"']+`), "${1}" + redacted},
	{regexp.MustCompile(`(?i)((?:token|password|passwd|certificate-?key|client-key-data)["']?(?:: ?|=)["']?)[^\s"',]+`), "${1}" + redacted},
}

// keyOrDigest matches a certificate key, or a digest, which has its algorithm or a path in front of
// it.
var keyOrDigest = regexp.MustCompile(`(?:sha256:|/)?\b[0-9a-f]{64}\b`)

// Redact removes secrets from a text: bearer tokens, private keys, bootstrap tokens, certificate
// keys, passwords in URLs or flags.
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
