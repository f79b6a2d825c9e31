package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// MoveLeader moves the leadership to another member if this one leads: losing a leader unprepared
// costs an election. With 0 it chooses the member with the most of the log. It does nothing if this
// member does not lead or is the only one.
func (c *Client) MoveLeader(ctx context.Context, to uint64) error {
	ctx, cancel := context.WithTimeout(ctx, 2*c.timeout)
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
		return fmt.Errorf("cannot move the leadership of etcd: %w", err)
	}
	for {
		if now, err := status(ctx, c.local); err == nil && now.LeaderID != 0 && !now.Leader {
			return nil
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("etcd has no new leader: %w", err)
		}
	}
}

// best returns the other voter with the most of the log.
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
		return 0, errors.New("cannot move the leadership of etcd: no other member can lead")
	}
	return best.ID, nil
}

func (c *Client) statusAt(ctx context.Context, urls []string) (Member, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	client, err := c.connect(urls)
	if err != nil {
		return Member{}, err
	}
	defer client.Close()
	return status(ctx, client)
}
