//go:build unix

package artifact

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs says whether a file belongs to root or to the user of this process.
func ownedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid())
}
