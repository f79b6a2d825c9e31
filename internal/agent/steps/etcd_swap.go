package steps

import (
	"context"
	"errors"

	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// etcdMember is the etcd member on this host.
type etcdMember interface {
	// secureQuorum waits until this member may stop, and keeps the members of other hosts running
	// until release is called.
	secureQuorum(ctx context.Context) (release func() error, err error)
	// mayStop checks again, right before the member stops, that it may.
	mayStop(ctx context.Context) error
	// prove waits until the member is healthy at its new version.
	prove(ctx context.Context) error
	Close() error
}

// etcdSwap replaces the etcd member of this host.
//
// The API server stops first, unless stopAPIServer is false. Without its etcd it accepts
// connections and answers nothing: clients hang, and so does the kubelet, which starts the new etcd
// only after its requests have timed out.
//
// The host must not be left without an API server. A step that was interrupted starts from the old
// manifests again, because the quorum may have become unsafe since, and a step that fails or stops
// restores them before it reports anything.
type etcdSwap struct {
	pods            staticPods
	etcd, apiServer staticPod
	stopAPIServer   bool
	dial            func(context.Context) (etcdMember, error)
}

func (s etcdSwap) do(ctx context.Context) error {
	err := s.restore()
	if err == nil {
		err = s.swap(ctx)
	}
	if err != nil {
		return errors.Join(err, s.restore())
	}
	return nil
}

func (s etcdSwap) swap(ctx context.Context) error {
	member, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = member.Close() }()
	state, err := s.etcd.state()
	if err != nil {
		return err
	}
	if state == host.Old {
		release, err := member.secureQuorum(ctx)
		if err != nil {
			return node.WithoutRollback(err) // nothing was changed
		}
		defer func() { _ = release() }() // it expires by itself
		// Stopping the API server and importing images take minutes.
		s.etcd.beforeStop = func(ctx context.Context) error { return node.WithoutRollback(member.mayStop(ctx)) }
		if s.stopAPIServer {
			if err := s.pods.stop(ctx, s.apiServer); err != nil {
				return err
			}
		}
	}
	if err := s.pods.swap(ctx, s.etcd); err != nil {
		return err
	}
	return member.prove(ctx)
}

// restore restores etcd before the API server, which cannot start without it.
func (s etcdSwap) restore() error { return s.pods.restore(s.etcd, s.apiServer) }
