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
	// proofKey lies outside of the keys of the API server. It is written and deleted again.
	proofKey      = "refit.dev/proof"
	proveInterval = 200 * time.Millisecond
	proveTimeout  = 3 * time.Second
)

// Proof is what the member on this host must reach.
type Proof struct {
	Version string
	Members int
}

// Prove waits until the member is healthy with this proof, or until the context ends. The failure
// has the last problem.
func (c *Client) Prove(ctx context.Context, want Proof) error {
	problem := errors.New("it was not queried yet")
	for {
		if err := c.prove(ctx, want); err == nil {
			return nil
		} else if ctx.Err() == nil {
			problem = err
		}
		if err := wait(ctx, proveInterval); err != nil {
			return node.ManualIntervention("EtcdUnhealthy", errors.Join(problem, err), unreachableRemedy+", then run `refit retry`",
				"the etcd member on this host did not become healthy at %s", want.Version)
		}
	}
}

// prove checks once.
func (c *Client) prove(ctx context.Context, want Proof) error {
	ctx, cancel := context.WithTimeout(ctx, proveTimeout)
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
		return errors.New("it has no leader")
	case len(before.Errors) > 0:
		return fmt.Errorf("it reports: %s", strings.Join(before.Errors, "; "))
	}
	members, err := list(ctx, c.local)
	switch {
	case err != nil:
		return err
	case want.Members != 0 && len(members) != want.Members:
		return fmt.Errorf("it has %d members, not %d", len(members), want.Members)
	}
	if err := c.noAlarm(ctx, members); err != nil {
		return err
	}
	return c.commits(ctx, before.AppliedIndex)
}

// commits writes and deletes a key, and checks that both were committed and have reached the member
// on this host.
func (c *Client) commits(ctx context.Context, before uint64) error {
	if _, err := c.local.Put(ctx, proofKey, ""); err != nil {
		return fmt.Errorf("cannot write with quorum: %w", err)
	}
	if _, err := c.local.Delete(ctx, proofKey); err != nil {
		return fmt.Errorf("cannot write with quorum: %w", err)
	}
	if err := readByQuorum(ctx, c.local); err != nil {
		return err
	}
	after, err := status(ctx, c.local)
	if err != nil {
		return err
	}
	if after.AppliedIndex < before+2 {
		return fmt.Errorf("its applied index stays at %d", after.AppliedIndex)
	}
	return nil
}
