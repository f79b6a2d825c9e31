package etcd

import (
	"context"
	"fmt"
	"io"
)

// Snapshot streams a snapshot of the database of the member on this host: the bytes of the file,
// followed by their SHA-256 digest. The context bounds the whole stream.
func (c *Client) Snapshot(ctx context.Context) (io.ReadCloser, error) {
	response, err := c.local.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot take a snapshot of etcd: %w", err)
	}
	return response, nil
}
