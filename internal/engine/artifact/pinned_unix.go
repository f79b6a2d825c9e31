//go:build unix

package artifact

import (
	"io/fs"
	"os"
	"syscall"
)

// isTrustedOwner reports whether a file is owned by root or by the user of this process.
func isTrustedOwner(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid())
}
