package create

import (
	_ "embed"
	"strings"
	"sync"
)

// digestsText is the list of digests of files without a signature that Refit verifies, as sha256sum
// writes it.
//
//go:embed digests.txt
var digestsText string

var compiledDigests = sync.OnceValue(func() map[string]string { return parseDigests(digestsText) })

// known returns the digests that are compiled into Refit, by PROJECT/TAG/FILE.
func (m *builder) known() map[string]string {
	if m.digests != nil {
		return m.digests
	}
	return compiledDigests()
}

func parseDigests(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if sum, name, ok := strings.Cut(strings.TrimSpace(line), "  "); ok && hexPattern.MatchString(sum) {
			out[name] = "sha256:" + sum
		}
	}
	return out
}
