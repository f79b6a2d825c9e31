package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
)

// ReplaceMember removes the member with a peer URL, which has lost its data, and adds a learner in
// its place. It does nothing if that learner is there and has not started.
func (c *Client) ReplaceMember(ctx context.Context, peerURL string) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	member, err := c.memberAt(ctx, peerURL)
	if err != nil {
		return err
	}
	if member != nil && member.IsLearner && member.Name == "" {
		return nil
	}
	if member != nil {
		if _, err := c.local.MemberRemove(ctx, member.ID); err != nil {
			return fmt.Errorf("cannot remove the member at %s: %w", peerURL, err)
		}
	}
	if _, err := c.local.MemberAddAsLearner(ctx, []string{peerURL}); err != nil {
		return fmt.Errorf("cannot add a learner at %s: %w", peerURL, err)
	}
	return nil
}

// InitialCluster returns the members as a new member needs them to join. It does not know its own
// name before it has started.
func (c *Client) InitialCluster(ctx context.Context, self, peerURL string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	found, err := c.local.MemberList(ctx)
	if err != nil {
		return "", fmt.Errorf("cannot list the members of etcd: %w", err)
	}
	var all []string
	for _, m := range found.Members {
		name := m.Name
		if slices.Contains(m.PeerURLs, peerURL) {
			name = self
		}
		for _, url := range m.PeerURLs {
			all = append(all, name+"="+url)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ","), nil
}

// Promote makes the learner with a peer URL a voting member. It fails until the learner has copied
// the data, and does nothing if it is promoted.
func (c *Client) Promote(ctx context.Context, peerURL string) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	member, err := c.memberAt(ctx, peerURL)
	switch {
	case err != nil:
		return err
	case member == nil:
		return errors.New("etcd has no member at " + peerURL)
	case !member.IsLearner:
		return nil
	}
	if _, err := c.local.MemberPromote(ctx, member.ID); err != nil {
		return fmt.Errorf("cannot promote the learner at %s: %w", peerURL, err)
	}
	return nil
}

// memberAt returns the member with a peer URL, or nil.
func (c *Client) memberAt(ctx context.Context, peerURL string) (*etcdserverpb.Member, error) {
	found, err := c.local.MemberList(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot list the members of etcd: %w", err)
	}
	for _, m := range found.Members {
		if slices.Contains(m.PeerURLs, peerURL) {
			return m, nil
		}
	}
	return nil, nil //nolint:nilnil // there is none
}
