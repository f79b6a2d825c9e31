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

// RemoveMember removes the member with a peer URL. It succeeds if there is none.
func (c *Client) RemoveMember(ctx context.Context, peerURL string) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	found, err := c.local.MemberList(ctx)
	if err != nil {
		return err
	}
	for _, m := range found.Members {
		if len(m.PeerURLs) == 1 && m.PeerURLs[0] == peerURL {
			_, err := c.local.MemberRemove(ctx, m.ID)
			return err
		}
	}
	return nil
}
