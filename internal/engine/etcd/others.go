package etcd

import "context"

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
