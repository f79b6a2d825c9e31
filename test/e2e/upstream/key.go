package upstream

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
)

// key is an OpenPGP key of gpg.
type key struct{ home, fingerprint string }

func newKey(t *testing.T) *key {
	t.Helper()
	home, err := os.MkdirTemp("", "adoption-gpg-") //nolint:usetesting // the path of a socket must be short
	bed.Must(t, err)
	k := &key{home: home}
	t.Cleanup(func() {
		_ = exec.CommandContext(context.WithoutCancel(t.Context()), "gpgconf", "--homedir", home, "--kill", "gpg-agent").Run()
		_ = os.RemoveAll(home)
	})
	k.gpg(t, "--quick-generate-key", "Packages <packages@example.com>", "rsa2048", "sign", "0")
	for line := range strings.Lines(string(k.gpg(t, "--with-colons", "--list-keys"))) {
		if fields := strings.Split(line, ":"); fields[0] == "fpr" {
			k.fingerprint = fields[9]
		}
	}
	return k
}

func (k *key) gpg(t *testing.T, args ...string) []byte {
	t.Helper()
	return run(t, k.home, append([]string{"gpg", "--homedir", k.home, "--batch", "--yes", "--pinentry-mode", "loopback", "--passphrase", ""}, args...)...)
}

// run runs a tool in a directory and returns its output.
func run(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, failed.String())
	}
	return out
}

func copyTo(t *testing.T, dir string, files []string) {
	t.Helper()
	bed.Must(t, os.MkdirAll(dir, 0o755))
	for _, file := range files {
		content, err := os.ReadFile(file)
		bed.Must(t, err)
		bed.Must(t, os.WriteFile(filepath.Join(dir, filepath.Base(file)), content, 0o644))
	}
}
