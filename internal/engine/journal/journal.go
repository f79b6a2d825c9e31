package journal

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

const (
	// Format is the format that this version writes. A newer one is refused.
	Format = 1
	// MaxSize is how large a journal can become, in bytes; the last undoRoom of them are for what records the way back.
	MaxSize = 4 << 20
	// MaxRecord is how large the JSON of one record can be, in bytes.
	MaxRecord = 64 << 10

	undoRoom = 512 << 10
	// ahead is how much disk a new journal holds; it never falls below least when a record of the way forward is written.
	ahead = 1 << 20
	least = 256 << 10
)

// ErrClosed is what a journal says that was closed, or that an earlier error stopped: what is on the disk is then not known, and only opening it again tells.
var ErrClosed = errors.New("the journal is closed")

// Journal is an open journal. It belongs to one goroutine.
type Journal struct {
	file    *os.File
	path    string
	size    int64 // where the next record goes
	held    int64 // up to where the disk is ours, as far as known
	records []node.Record
	broken  error
	failed  bool // a write did
}

// Records are all records, as they are on the disk.
func (j *Journal) Records() []node.Record { return slices.Clone(j.records) }

// Broken says that a write failed. Until it is opened again the journal refuses everything, whereas a record that was refused beforehand leaves it usable.
func (j *Journal) Broken() bool { return j.failed }

// Close lets go of the file. Everything is on the disk already.
func (j *Journal) Close() error {
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	if j.broken == nil {
		j.broken = ErrClosed
	}
	if err != nil {
		return fmt.Errorf("closing the journal %s: %w", j.path, err)
	}
	return nil
}

// lock keeps a second process from writing: the host's lock does so too, but a journal with two writers could not be mended.
func lock(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return node.Transient("JournalInUse", err, "wait for the other refit-agent to end, or stop it", "another process has the journal %s open", file.Name())
	}
	return err
}

// hold allocates disk behind the end of the file without making it longer. A file system that can't does without.
func hold(file *os.File, from, to int64) error {
	if to <= from {
		return nil
	}
	for {
		err := unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_KEEP_SIZE, from, to-from)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil
		default:
			return err
		}
	}
}
