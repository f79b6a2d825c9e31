package etcd

import (
	"context"
	"errors"
	"testing"
	"time"
)

const shortTTL = 2 * time.Second

func held(t *testing.T, c *Client, by string) {
	t.Helper()
	_ = busyWith(t, c, by)
}

func busyWith(t *testing.T, c *Client, by string) *HeldError {
	t.Helper()
	_, err := c.Lock(t.Context(), "somebody-else")
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

func TestTheLockOfThree(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 3)
	first, second := s.on(0), s.on(1)
	lock, err := first.lock(t.Context(), "cp-1", shortTTL)
	must(t, err)
	busy := busyWith(t, second, "cp-1")

	t.Run("a watcher learns when it is free", func(t *testing.T) {
		waited := make(chan error, 1)
		go func() { waited <- busy.Wait(t.Context()) }()
		select {
		case err := <-waited:
			t.Fatalf("it did not wait: %v", err)
		case <-time.After(300 * time.Millisecond):
		}
		must(t, lock.Close())
		must(t, <-waited)
		must(t, busy.Wait(within(t, 5*time.Second))) // also one that comes late
	})
	t.Run("who gives up waiting is let go", func(t *testing.T) {
		lock, err = second.lock(t.Context(), "cp-2", shortTTL)
		must(t, err)
		if err := busyWith(t, first, "cp-2").Wait(within(t, 100*time.Millisecond)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("it stays while the member on this host is away", func(t *testing.T) {
		s.kill(1)
		time.Sleep(shortTTL + time.Second)
		if isLost(lock) {
			t.Error("it was lost")
		}
		held(t, first, "cp-2")
		s.restart(1, "3.6.8")
		s.waitReady(1)
	})
	t.Run("an agent that was killed gets its own back", func(t *testing.T) {
		lock.stop() // as a kill would: nobody renews it, and nobody gives it back
		again, err := second.lock(t.Context(), "cp-2", shortTTL)
		must(t, err)
		time.Sleep(shortTTL + time.Second) // the lease of before runs out
		held(t, first, "cp-2")
		must(t, again.Close())
	})
}

func TestALockWhoseHolderIsGone(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 3)
	first, second := s.on(0), s.on(1)
	t.Run("it is free some time after its holder died", func(t *testing.T) {
		lock, err := second.lock(t.Context(), "cp-2", shortTTL)
		must(t, err)
		lock.stop()
		must(t, busyWith(t, first, "cp-2").Wait(within(t, 15*time.Second)))
		got, err := first.Lock(t.Context(), "cp-1")
		must(t, err)
		must(t, got.Close())
	})
	t.Run("its holder learns that it was taken away", func(t *testing.T) {
		lock, err := first.lock(t.Context(), "cp-1", shortTTL)
		must(t, err)
		_, err = second.local.Revoke(t.Context(), lock.lease)
		must(t, err)
		eventually(t, "it is lost", func() bool { return isLost(lock) })
		must(t, lock.Close())
	})
	t.Run("a host that sees no member for long has lost it", func(t *testing.T) {
		lock, err := first.lock(t.Context(), "cp-1", shortTTL)
		must(t, err)
		for i := range s.members {
			s.kill(i)
		}
		eventually(t, "it is lost", func() bool { return isLost(lock) })
	})
}

// The only member may be away for longer than the lease lasts: nobody can take the lock meanwhile, and then it goes on.
func TestTheLockOfOneThatIsRestarted(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 1)
	c := s.on(0)
	const ttl = 3 * time.Second
	lock, err := c.lock(t.Context(), "cp-1", ttl)
	must(t, err)
	s.kill(0)
	time.Sleep(ttl + time.Second/2)
	s.restart(0, "3.7.0")
	s.waitReady(0)
	held(t, c, "cp-1")
	time.Sleep(ttl + time.Second/2) // it is renewed again
	held(t, c, "cp-1")
	if isLost(lock) {
		t.Error("it was lost")
	}
	must(t, lock.Close())
	again, err := c.Lock(t.Context(), "cp-2")
	must(t, err)
	must(t, again.Close())
}

func TestALockNeedsAHolder(t *testing.T) {
	c, err := Dial(Config{Endpoints: []string{"http://127.0.0.1:1"}})
	must(t, err)
	defer c.Close()
	if _, err := c.Lock(t.Context(), ""); err == nil {
		t.Error("a lock without a holder was taken")
	}
}
