package store

import (
	"context"
	"io"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// Objects is a store: a flat set of objects. Keys are those of package internal/upgrade/backup.
type Objects interface {
	// Put writes an object of unknown size and replaces an older one. The object becomes visible
	// only as a whole, and never if from fails. A nil error is the word of the store: read the
	// object back before you rely on it.
	Put(ctx context.Context, key string, from io.Reader) error
	// Get returns the content of an object. Its errors have a class, too.
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	// Stat returns an object without its content.
	Stat(ctx context.Context, key string) (backup.Object, error)
	// List returns the objects whose keys begin with a prefix that is empty or ends with a slash,
	// and uploads that have not ended.
	List(ctx context.Context, prefix string) ([]backup.Object, error)
	// Delete removes an object and the interrupted uploads of its key. It returns nil if there is
	// none.
	Delete(ctx context.Context, key string) error
}
