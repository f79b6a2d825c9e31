package etcd

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// keepAlive renews the lease until the lock is closed or lost.
//
// While a cluster has no leader, no lease expires, and a new leader renews each of them. So as long
// as there is no quorum without this host, the lock is lost only when etcd reports so; the loop of
// the library would give up after the TTL, although a member may be down for longer. With three
// members and more, the others can let the lease expire while this host reaches none of them: then
// it counts as lost after the TTL.
func (l *Lock) keepAlive(ctx context.Context) {
	defer close(l.ended)
	renewed := time.Now()
	for ctx.Err() == nil {
		if responses, err := l.client.KeepAlive(ctx, l.lease); err == nil {
			for range responses {
				renewed = time.Now()
			}
		}
		switch l.exists(ctx) {
		case yes: // renew it again
		case no:
			close(l.lost)
			return
		case unknown:
			if !l.alone && time.Since(renewed) > l.ttl {
				close(l.lost)
				return
			}
		}
		_ = wait(ctx, reconnectInterval)
	}
}

type existence int

const (
	unknown existence = iota
	yes
	no
)

// exists reports whether the lease exists.
func (l *Lock) exists(ctx context.Context) existence {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	left, err := l.client.TimeToLive(ctx, l.lease)
	switch {
	case gone(err) || (err == nil && left.TTL < 0):
		return no
	case err != nil:
		return unknown
	}
	return yes
}

func gone(err error) bool { return errors.Is(err, rpctypes.ErrLeaseNotFound) }
