// Package durabletest lets tests fail, skip and interrupt the syncs of package durable, and mount
// directories read-only. A test that omits a sync proves that another test would notice its
// absence.
package durabletest

import (
	"os"
	"testing"

	"github.com/refit-dev/refit/internal/engine/durable/internal/hook"
)

// SyncFile replaces the sync of files until restore is called or the test ends. sync is the sync
// that it replaces.
func SyncFile(t *testing.T, by func(file *os.File, sync func(*os.File) error) error) (restore func()) {
	t.Helper()
	sync := hook.SyncFile
	restore = func() { hook.SyncFile = sync }
	t.Cleanup(restore)
	hook.SyncFile = func(file *os.File) error { return by(file, sync) }
	return restore
}

// SyncDir replaces the sync of directories until restore is called or the test ends. sync is the
// sync that it replaces.
func SyncDir(t *testing.T, by func(dir string, sync func(string) error) error) (restore func()) {
	t.Helper()
	sync := hook.SyncDir
	restore = func() { hook.SyncDir = sync }
	t.Cleanup(restore)
	hook.SyncDir = func(dir string) error { return by(dir, sync) }
	return restore
}

// FailFiles makes every sync of a file return err, without syncing. A nil error omits the syncs.
func FailFiles(t *testing.T, err error) (restore func()) {
	t.Helper()
	return SyncFile(t, func(*os.File, func(*os.File) error) error { return err })
}

// FailDirs makes every sync of a directory return err, without syncing. A nil error omits the
// syncs.
func FailDirs(t *testing.T, err error) (restore func()) {
	t.Helper()
	return SyncDir(t, func(string, func(string) error) error { return err })
}

// Before calls do before every sync of a file and of a directory.
func Before(t *testing.T, do func()) (restore func()) {
	t.Helper()
	files := SyncFile(t, func(file *os.File, sync func(*os.File) error) error { do(); return sync(file) })
	dirs := SyncDir(t, func(dir string, sync func(string) error) error { do(); return sync(dir) })
	return func() { files(); dirs() }
}

// FailLinks makes every link return err.
func FailLinks(t *testing.T, err error) {
	t.Helper()
	link := hook.Link
	t.Cleanup(func() { hook.Link = link })
	hook.Link = func(string, string) error { return err }
}

// Matchpathcon makes a binary the one that knows the SELinux label of a path.
func Matchpathcon(t *testing.T, binary string) {
	t.Helper()
	before := hook.Matchpathcon
	t.Cleanup(func() { hook.Matchpathcon = before })
	hook.Matchpathcon = []string{binary}
}
