//go:build e2e

package upgrade

import (
	"slices"
	"testing"
)

// upgrade starts `refit upgrade` without prompts.
func (s *site) upgrade(t *testing.T, to string, more ...string) *running {
	t.Helper()
	args := slices.Concat([]string{"upgrade", "--to", to, "--yes"}, more)
	if s.standalone {
		args = append(args, "--standalone")
	}
	return s.start(t, args...)
}

// waiveBare is bareMayEnd as command-line flags.
var waiveBare = []string{"--waive", bareMayEnd.Check + "/" + bareMayEnd.Object + "=" + bareMayEnd.Reason}
