package etcd

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

const shortTTL = 4 * time.Second

func mustBeHeld(t *testing.T, c *Client, by string) {
	t.Helper()
	_ = heldBy(t, c, by)
}

func heldBy(t *testing.T, c *Client, by string) *HeldError {
	t.Helper()
	_, err := c.Lock(t.Context(), "another")
	var h *HeldError
	if !errors.As(err, &h) || h.By != by {
		t.Fatalf("the lock is not held by %s: %v", by, err)
	}
	return h
}

func isLost(l *Lock) bool {
	select {
	case <-l.Lost():
		return true
	default:
		return false
	}
}

func TestLockWithThreeMembers(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 3)
	first, second := s.on(0), s.on(1)
	lock, err := first.lock(t.Context(), "cp-1", shortTTL)
	must(t, err)
	held := heldBy(t, second, "cp-1")

	t.Run("Wait returns when the lock is free", func(t *testing.T) {
		waited := make(chan error, 1)
		go func() { waited <- held.Wait(t.Context()) }()
		select {
		case err := <-waited:
			t.Fatalf("it did not wait: %v", err)
		case <-time.After(300 * time.Millisecond):
		}
		must(t, lock.Close())
		must(t, <-waited)
		must(t, held.Wait(within(t, 5*time.Second))) // also after the fact
	})
	t.Run("Wait returns when its context ends", func(t *testing.T) {
		lock, err = second.lock(t.Context(), "cp-2", shortTTL)
		must(t, err)
		if err := heldBy(t, first, "cp-2").Wait(within(t, 100*time.Millisecond)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("it stays locked while the local member is down", func(t *testing.T) {
		s.kill(1)
		time.Sleep(shortTTL + time.Second)
		if isLost(lock) {
			t.Error("the lock was lost")
		}
		mustBeHeld(t, first, "cp-2")
		s.restart(1, "3.6.8")
		s.waitReady(1)
	})
	t.Run("a restarted agent gets its own lock", func(t *testing.T) {
		lock.stop() // as after a kill: it is neither renewed nor released
		again, err := second.lock(t.Context(), "cp-2", shortTTL)
		must(t, err)
		time.Sleep(shortTTL + time.Second) // the former lease expires
		mustBeHeld(t, first, "cp-2")
		must(t, again.Close())
	})
}

func TestLockWithoutItsHolder(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 3)
	first, second := s.on(0), s.on(1)
	t.Run("it expires after a kill", func(t *testing.T) {
		lock, err := second.lock(t.Context(), "cp-2", shortTTL)
		must(t, err)
		lock.stop()
		must(t, heldBy(t, first, "cp-2").Wait(within(t, time.Minute)))
		got, err := first.Lock(t.Context(), "cp-1")
		must(t, err)
		must(t, got.Close())
	})
	t.Run("a revoked lease is lost", func(t *testing.T) {
		lock, err := first.lock(t.Context(), "cp-1", shortTTL)
		must(t, err)
		_, err = second.local.Revoke(t.Context(), lock.lease)
		must(t, err)
		eventually(t, "the lock is lost", func() bool { return isLost(lock) })
		must(t, lock.Close())
	})
	t.Run("a host that reaches no member has lost it", func(t *testing.T) {
		lock, err := first.lock(t.Context(), "cp-1", shortTTL)
		must(t, err)
		for i := range s.members {
			s.kill(i)
		}
		eventually(t, "the lock is lost", func() bool { return isLost(lock) })
	})
}

// The only member may be down for longer than the TTL: no other host can take the lock in that
// time.
func TestLockSurvivesARestartOfTheOnlyMember(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 1)
	c := s.on(0)
	const ttl = 5 * time.Second
	lock, err := c.lock(t.Context(), "cp-1", ttl)
	must(t, err)
	s.kill(0)
	time.Sleep(ttl + time.Second/2)
	s.restart(0, "3.7.0")
	s.waitReady(0)
	mustBeHeld(t, c, "cp-1")
	time.Sleep(ttl + time.Second/2) // it is renewed again
	mustBeHeld(t, c, "cp-1")
	if isLost(lock) {
		t.Error("the lock was lost")
	}
	must(t, lock.Close())
	again, err := c.Lock(t.Context(), "cp-2")
	must(t, err)
	must(t, again.Close())
}

func TestLockNeedsAHolder(t *testing.T) {
	c, err := Dial(Config{Endpoints: []string{"http://127.0.0.1:1"}})
	must(t, err)
	defer c.Close()
	if _, err := c.Lock(t.Context(), ""); err == nil {
		t.Error("it was locked without a holder")
	}
}

func TestLockIsCheckedBeforeAMemberStops(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 1)
	client := s.on(0)
	for situation, change := range map[string]func(*Lock){
		"the key was removed": func(l *Lock) {
			_, err := l.client.Delete(t.Context(), lockKey)
			must(t, err)
		},
		"the lease was revoked": func(l *Lock) { l.revoke(t.Context(), l.lease) },
		"another host has it": func(l *Lock) {
			_, err := l.client.Put(t.Context(), lockKey, "cp-2")
			must(t, err)
		},
		"the lease is too short": func(l *Lock) { l.ttl = time.Hour },
	} {
		lock, err := client.Lock(t.Context(), "cp-1")
		must(t, err)
		must(t, lock.Check(t.Context()))
		change(lock)
		if err := lock.Check(t.Context()); err == nil || node.FailureOf(err).Reason != "EtcdLocked" {
			t.Errorf("%s: %v", situation, err)
		}
		_, err = lock.client.Delete(t.Context(), lockKey)
		must(t, err)
		must(t, lock.Close())
	}
}
