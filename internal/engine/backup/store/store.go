package store

import (
	"fmt"
	"io"
	"time"
)

// Stall is the default stall timeout.
const Stall = 2 * time.Minute

// maxObjects bounds the memory of List: far more than a thousand backups.
const maxObjects = 100_000

// errTooMany is the error of a prefix with more objects than maxObjects.
var errTooMany = fmt.Errorf("there are more than %d objects: use a prefix of its own for backups", maxObjects)

// failure returns the error of an operation on a key. A nil class leaves the one of the cause.
func failure(verb, key string, class, cause error) error {
	if class == nil {
		return fmt.Errorf("cannot %s %s: %w", verb, key, cause)
	}
	return fmt.Errorf("cannot %s %s: %w: %w", verb, key, class, cause)
}

// sourceError is an error of the reader that is passed to Put. It hides an io.EOF and an
// io.ErrUnexpectedEOF in the error, which libraries take for the end of the stream: they would
// store the truncated object. Put returns the error itself.
type sourceError struct{ err error }

func (e sourceError) Error() string { return e.err.Error() }

// source is the reader that is passed to Put. Its errors are sourceErrors.
type source struct {
	from io.Reader
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.from.Read(p)
	if err != nil && err != io.EOF {
		s.err = sourceError{err}
		return n, s.err
	}
	return n, err
}
