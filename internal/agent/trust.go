package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// checkStateOwner refuses state that others than root can write: journals and envelopes decide what
// the agent does on the host. The state directory itself may be a symbolic link.
func checkStateOwner(s settings.Settings) error {
	dir, err := filepath.EvalSymlinks(s.StateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s.StateDir = dir
	paths := []string{dir, s.StateFile(), s.ReleasesDir(), s.UpgradesDir(), s.BackupsDir()}
	for _, pattern := range []string{"releases/*.json", "upgrades/*", "upgrades/*/journal", "backups/*", "backups/*/journal"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern)) // the patterns are valid
		paths = append(paths, found...)
	}
	for _, path := range paths {
		if err := checkOwner(path); err != nil {
			return err
		}
	}
	return nil
}

func checkOwner(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	owned := ok && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid())
	if owned && info.Mode().Perm()&0o022 == 0 && info.Mode()&fs.ModeSymlink == 0 {
		return nil
	}
	return node.HostBroken("StateUnsafe", nil,
		"Find out what changed it and whether its content can be trusted; then run `chown root:root "+path+"; "+
			"chmod go-w "+path+"; systemctl restart refit-agent`",
		"%s is a symbolic link, is not owned by root, or is writable by others (mode %s)", path, info.Mode())
}
