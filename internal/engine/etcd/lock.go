package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

const (
	// lockKey lies outside of /registry, where the API server stores its objects.
	lockKey = "refit.dev/upgrade-lock"
	lockTTL = 60 * time.Second
)

// HeldError is the error of Lock while another host holds it.
type HeldError struct {
	By       string
	client   *Client
	revision int64
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is upgrading its etcd member", e.By)
}

// Wait returns when the lock may be free again.
func (e *HeldError) Wait(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		changes := e.client.local.Watch(clientv3.WithRequireLeader(ctx), lockKey, clientv3.WithRev(e.revision+1))
		for change := range changes {
			if change.CompactRevision != 0 {
				return nil // the events are compacted: the caller tries the lock again
			}
			for _, event := range change.Events {
				if event.Type == clientv3.EventTypeDelete {
					return nil
				}
				e.revision = event.Kv.ModRevision
			}
		}
		if err := wait(ctx, time.Second); err != nil { // the watch ended: there is no leader
			return err
		}
	}
}

// Lock is held by one agent at a time. It is bound to a lease, so that it expires when its holder
// dies.
type Lock struct {
	client *clientv3.Client // of all members: the one on this host restarts while the lock is held
	lease  clientv3.LeaseID
	ttl    time.Duration
	alone  bool // there is no quorum without this host
	lost   chan struct{}
	stop   context.CancelFunc
	ended  chan struct{}
}

// Lock takes the lock for a holder. An agent that was killed and restarted gets its own lock again;
// for another holder, Lock returns a *HeldError.
func (c *Client) Lock(ctx context.Context, holder string) (*Lock, error) {
	return c.lock(ctx, holder, lockTTL)
}

func (c *Client) lock(ctx context.Context, holder string, ttl time.Duration) (*Lock, error) {
	if holder == "" {
		return nil, errors.New("cannot lock etcd: no holder")
	}
	members, err := c.Members(ctx)
	if err != nil {
		return nil, node.Transient("EtcdNoQuorum", err, quorumRemedy, "cannot lock etcd")
	}
	endpoints := append([]string(nil), c.config.Endpoints...)
	for _, m := range members {
		endpoints = append(endpoints, m.ClientURLs...)
	}
	client, err := c.connect(endpoints)
	if err != nil {
		return nil, err
	}
	l := &Lock{client: client, ttl: ttl, alone: len(members) < 3, lost: make(chan struct{}), ended: make(chan struct{})}
	if err := l.take(ctx, c, holder); err != nil {
		client.Close()
		return nil, err
	}
	alive, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	go l.keepAlive(alive)
	return l, nil
}

// take writes the key if it does not exist.
func (l *Lock) take(ctx context.Context, c *Client, holder string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*c.timeout)
	defer cancel()
	granted, err := l.client.Grant(ctx, int64(l.ttl/time.Second))
	if err != nil {
		return node.Transient("EtcdUnreachable", err, unreachableRemedy, "cannot lock etcd")
	}
	l.lease = granted.ID
	err = l.write(ctx, c, holder)
	if err != nil {
		l.revoke(ctx, l.lease) // best effort: it expires by itself
	}
	return err
}

func (l *Lock) write(ctx context.Context, c *Client, holder string) error {
	put := clientv3.OpPut(lockKey, holder, clientv3.WithLease(l.lease))
	free := clientv3.Compare(clientv3.CreateRevision(lockKey), "=", 0)
	for {
		done, err := l.client.Txn(ctx).If(free).Then(put).Else(clientv3.OpGet(lockKey)).Commit()
		if err != nil {
			return node.Transient("EtcdUnreachable", err, unreachableRemedy, "cannot lock etcd")
		}
		if done.Succeeded {
			return nil
		}
		found := done.Responses[0].GetResponseRange().GetKvs()
		if len(found) == 0 {
			continue
		}
		has := found[0]
		if string(has.Value) != holder {
			return &HeldError{By: string(has.Value), client: c, revision: has.ModRevision}
		}
		// It is held by this agent from before a kill. One host has one agent, so nothing else uses
		// it.
		unchanged := clientv3.Compare(clientv3.ModRevision(lockKey), "=", has.ModRevision)
		again, err := l.client.Txn(ctx).If(unchanged).Then(put).Commit()
		if err != nil {
			return node.Transient("EtcdUnreachable", err, unreachableRemedy, "cannot lock etcd")
		}
		if again.Succeeded {
			if old := clientv3.LeaseID(has.Lease); old != clientv3.NoLease && old != l.lease {
				l.revoke(ctx, old)
			}
			return nil
		}
	}
}

func (l *Lock) revoke(ctx context.Context, lease clientv3.LeaseID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	_, _ = l.client.Revoke(ctx, lease)
}

// Check returns an error if the lock is not held any more, or not for long enough to stop a member.
// It renews the lease first.
func (l *Lock) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	renewed, err := l.client.KeepAliveOnce(ctx, l.lease)
	if err != nil {
		return notHeld(err, "its lease cannot be renewed")
	}
	if left := time.Duration(renewed.TTL) * time.Second; left < l.ttl/2 {
		return notHeld(nil, fmt.Sprintf("its lease ends in %v", left))
	}
	found, err := l.client.Get(ctx, lockKey)
	switch {
	case err != nil:
		return notHeld(err, "it cannot be read")
	case len(found.Kvs) == 0:
		return notHeld(nil, "it was removed")
	case clientv3.LeaseID(found.Kvs[0].Lease) != l.lease:
		return notHeld(nil, string(found.Kvs[0].Value)+" has taken it")
	}
	return nil
}

func notHeld(err error, why string) error {
	return node.Transient("EtcdLocked", err, "Check that etcd has a quorum, then run `refit retry`", "the etcd lock is not held any more: %s", why)
}

// Lost is closed when another host may hold the lock.
func (l *Lock) Lost() <-chan struct{} { return l.lost }

// Close releases the lock. If etcd is unreachable, the lease expires later.
func (l *Lock) Close() error {
	l.stop()
	<-l.ended
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	_, err := l.client.Revoke(ctx, l.lease)
	l.client.Close()
	if err != nil && !gone(err) {
		return fmt.Errorf("cannot unlock etcd: %w", err)
	}
	return nil
}
