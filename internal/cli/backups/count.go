package backups

import (
	"context"
	"io"

	"github.com/refit-dev/refit/internal/engine/backup/store"
)

// counted counts the bytes that are read from a store.
type counted struct {
	store.Objects
	add func(n int)
}

// Get returns the content of an object.
func (c counted) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	body, err := c.Objects.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	return countedBody{body, c.add}, nil
}

type countedBody struct {
	io.ReadCloser
	add func(n int)
}

func (b countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.add(n)
	return n, err
}
