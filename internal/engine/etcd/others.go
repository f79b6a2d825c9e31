package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// At returns the configuration for other members, with the same certificates.
func (c Config) At(endpoints []string) Config {
	return Config{Endpoints: endpoints, CA: c.CA, Cert: c.Cert, Key: c.Key}
}

// Serves returns nil if the member answers a read that needs the quorum.
func (c *Client) Serves(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return readByQuorum(ctx, c.local)
}

// Revision returns the revision of the data, by a read that needs the quorum.
func (c *Client) Revision(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	response, err := c.local.Get(ctx, proofKey, clientv3.WithCountOnly())
	if err != nil {
		return 0, fmt.Errorf("cannot read with quorum: %w", err)
	}
	return response.Header.Revision, nil
}
