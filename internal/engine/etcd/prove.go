package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

const (
	// proofKey lies outside of what the API server keeps. It is written and removed again.
	proofKey   = "refit.dev/proof"
	proveEvery = 200 * time.Millisecond
	proveTry   = 3 * time.Second
)

// Proof is what the member on this host must show.
type Proof struct {
	Version string
	Members int
}

// Prove asks until the member shows all of it, or until the context ends; the failure then says what was lacking last.
func (c *Client) Prove(ctx context.Context, want Proof) error {
	lacking := errors.New("it was not asked yet")
	for {
		if err := c.prove(ctx, want); err == nil {
			return nil
		} else if ctx.Err() == nil {
			lacking = err
		}
		if err := wait(ctx, proveEvery); err != nil {
			return node.ManualIntervention("EtcdNotProven", errors.Join(lacking, err), "look at the log of etcd on this host: crictl ps -a; crictl logs",
				"the etcd member on this host did not become well at %s", want.Version)
		}
	}
}

// prove tries once.
func (c *Client) prove(ctx context.Context, want Proof) error {
	ctx, cancel := context.WithTimeout(ctx, proveTry)
	defer cancel()
	before, err := status(ctx, c.local)
	switch {
	case err != nil:
		return err
	case strings.TrimPrefix(before.Version, "v") != strings.TrimPrefix(want.Version, "v"):
		return fmt.Errorf("its version is %s, not %s", before.Version, want.Version)
	case before.Learner:
		return errors.New("it is a learner")
	case before.LeaderID == 0:
		return errors.New("it knows no leader")
	case len(before.Errors) > 0:
		return fmt.Errorf("it says: %s", strings.Join(before.Errors, "; "))
	}
	members, err := list(ctx, c.local)
	switch {
	case err != nil:
		return err
	case want.Members != 0 && len(members) != want.Members:
		return fmt.Errorf("it knows %d members, not %d", len(members), want.Members)
	}
	if err := c.noAlarm(ctx, members); err != nil {
		return err
	}
	return c.moves(ctx, before.AppliedIndex)
}

// moves writes a key, removes it, and sees that both were agreed on and have arrived in the member on this host.
func (c *Client) moves(ctx context.Context, before uint64) error {
	if _, err := c.local.Put(ctx, proofKey, ""); err != nil {
		return fmt.Errorf("writing with the quorum: %w", err)
	}
	if _, err := c.local.Delete(ctx, proofKey); err != nil {
		return fmt.Errorf("writing with the quorum: %w", err)
	}
	if err := readByQuorum(ctx, c.local); err != nil {
		return err
	}
	after, err := status(ctx, c.local)
	if err != nil {
		return err
	}
	if after.AppliedIndex < before+2 {
		return fmt.Errorf("its raft index stays at %d", after.AppliedIndex)
	}
	return nil
}
