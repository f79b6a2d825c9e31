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
	// lockKey lies outside of /registry, where the API server keeps its objects.
	lockKey = "refit.dev/upgrade-lock"
	lockTTL = 60 * time.Second
)

// HeldError says that another holds the lock. Wait returns when it is free again, or may be.
type HeldError struct {
	By       string
	client   *Client
	revision int64
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is upgrading its etcd member", e.By)
}

// Wait watches the lock until its holder lets go of it.
func (e *HeldError) Wait(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		changes := e.client.local.Watch(clientv3.WithRequireLeader(ctx), lockKey, clientv3.WithRev(e.revision+1))
		for change := range changes {
			if change.CompactRevision != 0 {
				return nil // what happened was forgotten: whoever asks again learns it
			}
			for _, event := range change.Events {
				if event.Type == clientv3.EventTypeDelete {
					return nil
				}
				e.revision = event.Kv.ModRevision
			}
		}
		if err := wait(ctx, time.Second); err != nil { // the watch ended: no leader
			return err
		}
	}
}

// Lock is held by one agent at a time. It is bound to a lease, so that it becomes free when its holder dies.
type Lock struct {
	client *clientv3.Client // of all members: the one on this host is restarted while the lock is held
	lease  clientv3.LeaseID
	ttl    time.Duration
	alone  bool // no quorum exists without this host
	lost   chan struct{}
	stop   context.CancelFunc
	ended  chan struct{}
}

// Lock takes the lock in the name of the holder. An agent that was killed and started again gets back the lock that it had; another gets a *HeldError.
func (c *Client) Lock(ctx context.Context, holder string) (*Lock, error) {
	return c.lock(ctx, holder, lockTTL)
}

func (c *Client) lock(ctx context.Context, holder string, ttl time.Duration) (*Lock, error) {
	if holder == "" {
		return nil, errors.New("the lock in etcd needs the name of its holder")
	}
	members, err := c.Members(ctx)
	if err != nil {
		return nil, node.Transient("EtcdNoQuorum", err, "bring the other members back first", "the lock in etcd cannot be taken")
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

// take writes the key if nobody else has.
func (l *Lock) take(ctx context.Context, c *Client, holder string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*c.patience)
	defer cancel()
	granted, err := l.client.Grant(ctx, int64(l.ttl/time.Second))
	if err != nil {
		return node.Transient("EtcdAway", err, "look at the log of etcd on this host: crictl logs", "the lock in etcd cannot be taken")
	}
	l.lease = granted.ID
	err = l.write(ctx, c, holder)
	if err != nil {
		l.revoke(ctx, l.lease) // best effort: it runs out by itself
	}
	return err
}

func (l *Lock) write(ctx context.Context, c *Client, holder string) error {
	put := clientv3.OpPut(lockKey, holder, clientv3.WithLease(l.lease))
	free := clientv3.Compare(clientv3.CreateRevision(lockKey), "=", 0)
	for {
		done, err := l.client.Txn(ctx).If(free).Then(put).Else(clientv3.OpGet(lockKey)).Commit()
		if err != nil {
			return node.Transient("EtcdAway", err, "look at the log of etcd on this host: crictl logs", "the lock in etcd cannot be taken")
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
		// It is ours, from before we were killed. One host has one agent, so nobody else uses it.
		unchanged := clientv3.Compare(clientv3.ModRevision(lockKey), "=", has.ModRevision)
		again, err := l.client.Txn(ctx).If(unchanged).Then(put).Commit()
		if err != nil {
			return node.Transient("EtcdAway", err, "look at the log of etcd on this host: crictl logs", "the lock in etcd cannot be taken")
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
	defer cancel()
	_, _ = l.client.Revoke(ctx, lease)
}

// Lost is closed when another may hold the lock.
func (l *Lock) Lost() <-chan struct{} { return l.lost }

// Close gives the lock back. If etcd cannot be told, the lock becomes free when its lease runs out.
func (l *Lock) Close() error {
	l.stop()
	<-l.ended
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	_, err := l.client.Revoke(ctx, l.lease)
	l.client.Close()
	if err != nil && !gone(err) {
		return fmt.Errorf("giving back the lock in etcd: %w", err)
	}
	return nil
}
