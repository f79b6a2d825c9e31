package etcd

import (
	"context"
	"errors"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// keepAlive renews the lease until the lock is closed or lost.
//
// While a cluster has no leader no lease runs out, and a new leader gives each its full time again. So as long as there is no quorum without this host,
// the lock is lost only when etcd says so; the library's own loop would give up after the lease's time, although a member may be away for as long.
// With three members and more, the others can let the lease run out while this host sees none of them: then it counts as lost after its time.
func (l *Lock) keepAlive(ctx context.Context) {
	defer close(l.ended)
	renewed := time.Now()
	for ctx.Err() == nil {
		if answers, err := l.client.KeepAlive(ctx, l.lease); err == nil {
			for range answers {
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
		_ = wait(ctx, quickly)
	}
}

type answer int

const (
	unknown answer = iota
	yes
	no
)

// exists asks whether the lease still is.
func (l *Lock) exists(ctx context.Context) answer {
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
