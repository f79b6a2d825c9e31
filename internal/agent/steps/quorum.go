package steps

import (
	"context"
	"errors"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// quorum keeps the etcd members of other hosts running while a step may restart the one on this
// host: a kubelet of another version and a container runtime can restart static pods.
type quorum struct {
	client interface {
		OthersServe(ctx context.Context) error
		Facts(ctx context.Context) (*refitv1alpha1.EtcdFacts, error)
		Close() error
	}
	lock interface {
		etcdLock
		Close() error
	}
}

type etcdLock interface {
	Check(ctx context.Context) error
}

// secureMember waits until the etcd member on this host may restart. ReleaseQuorum ends it.
func secureMember(ctx context.Context, h *Host) error {
	if !h.Upgrade.Etcd || h.quorum != nil {
		return nil
	}
	client, err := h.dialEtcd()
	if err != nil {
		return err
	}
	q, err := h.secure(ctx, client)
	if q == nil {
		_ = client.Close()
	}
	h.quorum = q
	return err
}

// secure returns nil if a restart takes nothing from the quorum: the member is down, or the only
// one.
func (h *Host) secure(ctx context.Context, client *etcd.Client) (*quorum, error) {
	if _, err := client.Local(ctx); err != nil {
		return nil, ctx.Err() // nil: a member that does not answer has no part in the quorum
	}
	members, err := client.Members(ctx)
	if err != nil {
		return nil, node.Transient("EtcdNoQuorum", err, "Check that etcd has a quorum, then run `refit retry`",
			"cannot list the members of etcd: it has no quorum")
	}
	if len(members) == 1 {
		return nil, nil //nolint:nilnil // it has no others to take the quorum from
	}
	lock, err := h.secureQuorum(ctx, client, client.OthersServe)
	if err != nil {
		return nil, err
	}
	return &quorum{client: client, lock: lock}, nil
}

// dialEtcd returns a client of the member on this host.
func (h *Host) dialEtcd() (*etcd.Client, error) {
	saved, err := h.saved() // the live manifest may be missing during a swap
	if err != nil {
		return nil, err
	}
	text, err := saved.Read(manifest(kubeadm.Etcd))
	if err != nil {
		return nil, err
	}
	config, err := etcd.ConfigFromManifest(text)
	if err != nil {
		return nil, err
	}
	return etcd.Dial(config)
}

// secureUndoneMember restores the API server before it waits: nothing else may keep it stopped.
func secureUndoneMember(ctx context.Context, h *Host) error {
	if err := h.restoreAPIServer(); err != nil {
		return err
	}
	return secureMember(ctx, h)
}

// mayInstall checks, before a step installs what restarts etcd, that it may restart. A failure does
// not roll the host back, unless the step has installed something before it was interrupted.
func (h *Host) mayInstall(ctx context.Context, parts ...refitv1alpha1.Part) error {
	err := h.mayRestartEtcd(ctx)
	if err == nil {
		return nil
	}
	if installed, unknown := h.installed(ctx, parts...); installed || unknown != nil {
		return errors.Join(err, unknown)
	}
	return node.WithoutRollback(err)
}

// mayRestartEtcd checks again, right before a change that may restart etcd, that it may.
func (h *Host) mayRestartEtcd(ctx context.Context) error {
	if h.quorum == nil {
		return nil
	}
	return mayStop(ctx, h.quorum.lock, h.quorum.client.OthersServe, h.Settings.Timeouts.Etcd.Duration())
}

// mayStop checks the lock, the other members, and that the step has enough time left: a step that
// ends with its member stopped would be rolled back for it.
func mayStop(ctx context.Context, lock etcdLock, others func(context.Context) error, needed time.Duration) error {
	if deadline, has := ctx.Deadline(); has && time.Until(deadline) < needed {
		return node.Transient("EtcdTooLate", nil, "Run `refit retry`",
			"the step has %v left, and a restart of etcd may take %v", time.Until(deadline).Round(time.Second), needed)
	}
	if err := others(ctx); err != nil {
		return err
	}
	return lock.Check(ctx) // last: nothing may take time between this and the stop
}

// awaitEtcd waits until the member takes part in the quorum again: until then no other host may
// restart its own.
func (h *Host) awaitEtcd(ctx context.Context) error {
	if h.quorum == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, h.Settings.Timeouts.Etcd.Duration())
	defer cancel()
	problem, err := poll(ctx, time.Second, func(ctx context.Context) (string, error) {
		facts, err := h.quorum.client.Facts(ctx)
		if err == nil && !facts.Healthy {
			return "it has no quorum", nil
		}
		return errorText(err), nil
	})
	if err != nil {
		return node.Transient("EtcdUnhealthy", err, "Read the log of etcd on this host: `crictl ps -a`, `crictl logs`, then run `refit retry`",
			"the etcd member on this host did not become healthy after a restart: %s", problem)
	}
	return nil
}

// ReleaseLocks releases what others may wait for while the agent runs no step.
func (h *Host) ReleaseLocks() {
	h.UnlockPackages()
	h.ReleaseQuorum()
}

// ReleaseQuorum lets other hosts restart their members. It is called after each step.
func (h *Host) ReleaseQuorum() {
	if h.quorum == nil {
		return
	}
	if err := h.quorum.lock.Close(); err != nil {
		h.Log.Warn("cannot release the lock of etcd, which expires by itself", "error", err)
	}
	_ = h.quorum.client.Close()
	h.quorum = nil
}

// inOrder waits for several things.
func inOrder(waits ...func(context.Context, *Host) error) func(context.Context, *Host) error {
	return func(ctx context.Context, h *Host) error {
		for _, wait := range waits {
			if err := wait(ctx, h); err != nil {
				return err
			}
		}
		return nil
	}
}
