package durable

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/engine/durable/internal/hook"
)

const (
	labelTimeout = 10 * time.Second
	maxLabel     = 4096
)

// policyLabel returns the SELinux label that the policy of this host has for a new file, or nil.
// Without it the file has the label of its directory, which for a container runtime is the wrong
// one. A host whose directories have no labels does not use SELinux.
func policyLabel(path string) []byte {
	dir, err := xattrsOf(filepath.Dir(path))
	if err != nil || dir[labelXattr] == nil {
		return nil
	}
	for _, binary := range hook.Matchpathcon {
		if _, err := os.Stat(binary); err == nil {
			return matchpathcon(binary, path)
		}
	}
	return nil
}

func matchpathcon(binary, path string) []byte {
	ctx, cancel := context.WithTimeout(context.Background(), labelTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-n", "-m", "file", path)
	cmd.Dir, cmd.Env, cmd.WaitDelay = "/", []string{"LC_ALL=C"}, labelTimeout
	out, err := cmd.Output()
	label := strings.TrimSpace(string(out))
	if err != nil || label == "" || label == "<<none>>" || len(label) > maxLabel {
		return nil
	}
	return append([]byte(label), 0) // libselinux stores the end of the string too
}
