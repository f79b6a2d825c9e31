package backup

import (
	"errors"
	"fmt"
)

// The classes of errors about a store and its backups. They contain no credentials and no plain
// text, so that callers may log them.
var (
	// ErrNotFound is returned if an object or its bucket does not exist.
	ErrNotFound = errors.New("not found")
	// ErrDenied is returned if the store rejects the credentials. Retrying does not help.
	ErrDenied = errors.New("access denied")
	// ErrFull is returned if the store has no space or quota left. Delete backups, then retry.
	ErrFull = errors.New("the store is full")
	// ErrUnreachable is returned if the store does not answer, or stops during a transfer. Retry
	// with a new attempt.
	ErrUnreachable = errors.New("the store is unreachable")
	// ErrCorrupt is returned if stored bytes are not those that were written, or not readable.
	// The backup must not be used.
	ErrCorrupt = errors.New("the stored data is corrupt")
	// ErrIncomplete is returned if a backup has no manifest or lacks parts. It never counts.
	ErrIncomplete = errors.New("the backup is incomplete")
	// ErrAbsent is returned if a store has no object of a backup: retention has deleted it, or it
	// is in the same directory of another host.
	ErrAbsent = fmt.Errorf("%w: the store has none of its objects", ErrIncomplete)
	// ErrOther is returned if a backup or a part is intact but belongs to something else: another
	// cluster, backup, attempt or part, or a manifest with another digest than recorded.
	ErrOther = errors.New("the stored data belongs to something else")
	// ErrFormat is returned for a manifest of a later version of Refit, which can read it.
	ErrFormat = errors.New("the format is unknown to this version of Refit")
	// ErrExists is returned if an attempt already has objects. Use the next attempt.
	ErrExists = errors.New("the attempt exists already")
)
