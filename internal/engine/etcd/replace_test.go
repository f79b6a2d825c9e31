package etcd

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A member without data gets that of the others, and is never restored from a backup.
func TestLostMemberIsReplaced(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 3)
	other, lost := s.on(1), s.members[0]
	_, err := other.local.Put(t.Context(), "key", "value")
	must(t, err)
	s.kill(0)
	must(t, os.RemoveAll(filepath.Join(s.dir, lost.name)))

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// etcd refuses changes until its members have been connected for five seconds.
	for err = other.ReplaceMember(ctx, lost.peer); err != nil; err = other.ReplaceMember(ctx, lost.peer) {
		must(t, wait(ctx, 100*time.Millisecond))
	}
	must(t, other.ReplaceMember(ctx, lost.peer)) // continued after a crash
	lost.join, err = other.InitialCluster(ctx, lost.name, lost.peer)
	must(t, err)
	s.run(lost, etcdBinary(t, "3.6.8"))
	for err = other.Promote(ctx, lost.peer); err != nil; err = other.Promote(ctx, lost.peer) {
		must(t, wait(ctx, 100*time.Millisecond))
	}
	must(t, other.Promote(ctx, lost.peer)) // continued after a crash
	for err = s.on(0).Serves(ctx); err != nil; err = s.on(0).Serves(ctx) {
		must(t, wait(ctx, 100*time.Millisecond))
	}
	members, err := s.on(0).Members(ctx)
	must(t, err)
	found, err := s.on(0).local.Get(ctx, "key")
	if err != nil || len(members) != 3 || len(found.Kvs) != 1 {
		t.Errorf("%d members, %d keys, %v", len(members), len(found.Kvs), err)
	}
}
