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
	// Format is the format that this version writes and reads. Format 1 named some fields and
	// failure classes differently.
	Format = 2
	// MaxSize is the maximum size of a journal, in bytes; the last reservedForUndo of them are for
	// the records of a rollback.
	MaxSize = 4 << 20
	// MaxRecord is the maximum size of the JSON of one record, in bytes.
	MaxRecord = 64 << 10

	reservedForUndo = 512 << 10
	// preallocated is the disk space of a new journal. It never falls below minPreallocated when a
	// forward record is written.
	preallocated    = 1 << 20
	minPreallocated = 256 << 10
)

// ErrClosed is the error of a journal that was closed or that an earlier error stopped: the content
// on disk is then unknown until it is opened again.
var ErrClosed = errors.New("the journal is closed")

// Journal is an open journal. It belongs to one goroutine.
type Journal struct {
	file      *os.File
	path      string
	size      int64 // the offset of the next record
	allocated int64 // the end of the preallocated space
	records   []node.Record
	broken    error
	failed    bool // a write has failed
}

// Records returns all records, as they are on disk.
func (j *Journal) Records() []node.Record { return slices.Clone(j.records) }

// Broken reports whether a write has failed. Until it is opened again, the journal refuses every
// record. A record that was refused beforehand leaves it usable.
func (j *Journal) Broken() bool { return j.failed }

// Close closes the file. Everything is on disk already.
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
		return fmt.Errorf("cannot close the journal %s: %w", j.path, err)
	}
	return nil
}

// lock refuses a second process: the lock of the host does so, too, but a journal with two writers
// could not be repaired.
func lock(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return node.Transient("JournalInUse", err, "Stop the other refit-agent: `fuser -v "+file.Name()+"` shows it",
			"another process has opened the journal %s", file.Name())
	}
	return err
}

// preallocate allocates disk space behind the end of the file without making it longer. On a file
// system that cannot, it does nothing.
func preallocate(file *os.File, from, to int64) error {
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
