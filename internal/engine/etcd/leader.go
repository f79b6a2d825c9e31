package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// MoveLeader lets another member lead if this one does: losing a leader by surprise costs an election. Without a member to move to (0), it takes the one
// that is the furthest. It does nothing where this member does not lead, or is alone.
func (c *Client) MoveLeader(ctx context.Context, to uint64) error {
	ctx, cancel := context.WithTimeout(ctx, 2*c.patience)
	defer cancel()
	local, err := status(ctx, c.local)
	if err != nil {
		return err
	}
	members, err := list(ctx, c.local)
	if err != nil {
		return err
	}
	if !local.Leader || len(members) < 2 {
		return nil
	}
	if to == 0 {
		if to, err = c.best(ctx, local.ID, members); err != nil {
			return err
		}
	}
	if _, err := c.local.MoveLeader(ctx, to); err != nil {
		return fmt.Errorf("moving the leader of etcd: %w", err)
	}
	for {
		if now, err := status(ctx, c.local); err == nil && now.LeaderID != 0 && !now.Leader {
			return nil
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("waiting for the new leader of etcd: %w", err)
		}
	}
}

// best is the voter other than this one that has the most of the log.
func (c *Client) best(ctx context.Context, self uint64, members []Member) (uint64, error) {
	var best Member
	for _, m := range members {
		if m.ID == self || m.Learner || m.Name == "" || len(m.ClientURLs) == 0 {
			continue
		}
		if now, err := c.statusAt(ctx, m.ClientURLs); err == nil && now.ID == m.ID && now.RaftIndex > best.RaftIndex {
			best = now
		}
	}
	if best.ID == 0 {
		return 0, errors.New("no other member of etcd can lead")
	}
	return best.ID, nil
}

func (c *Client) statusAt(ctx context.Context, urls []string) (Member, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	client, err := c.connect(urls)
	if err != nil {
		return Member{}, err
	}
	defer client.Close()
	return status(ctx, client)
}
