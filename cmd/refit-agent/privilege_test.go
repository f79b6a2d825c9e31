package main

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestPermissionErrorOfAnotherUserThanRoot(t *testing.T) {
	denied := &fs.PathError{Op: "open", Path: "/var/lib/refit/state.json", Err: syscall.EACCES}
	broken := node.HostBroken("StateCorrupted", denied, "remove it", "cannot read the state of the agent")
	for name, c := range map[string]struct {
		uid  int
		err  error
		want string
	}{
		"of another user":       {1000, broken, "status must run as root: open /var/lib/refit/state.json: permission denied"},
		"of root":               {0, broken, "cannot read the state of the agent: "},
		"another error":         {1000, errors.New("nothing to undo"), "nothing to undo"},
		"another error of file": {1000, &fs.PathError{Op: "open", Path: "/x", Err: syscall.ENOENT}, "open /x: no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			run := blameMissingRoot(func(*cobra.Command, []string) error { return c.err }, c.uid)
			err := run(&cobra.Command{Use: "status"}, nil)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || (c.uid != 0 && strings.Contains(describe(err), "remedy")) {
				t.Errorf("got %v", err)
			}
		})
	}
}
