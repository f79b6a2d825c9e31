package machine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

func TestLockHasOneHolderAndReportsItToOthers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "not", "there", "yet", "lock")
	unlock, err := Lock(t.Context(), file, nil)
	must(t, err)
	if _, err := TryLock(file); !errors.Is(err, ErrLocked) {
		t.Errorf("a second holder got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*LockPoll)
	defer cancel()
	var holder string
	if _, err := Lock(ctx, file, func(pid string) { holder = pid }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting ended with %v", err)
	}
	if holder != strconv.Itoa(os.Getpid()) {
		t.Errorf("the reported holder is %q", holder)
	}
	unlock()
	unlock, err = TryLock(file)
	must(t, err)
	unlock()
}

// The last holder of the testbed's lock removes the file and its directory.
func TestLockIsTakenAgainAfterItsHolderRemovedTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "lock")
	unlock, err := Lock(t.Context(), file, nil)
	must(t, err)
	waiting, got := make(chan struct{}), make(chan error, 1)
	go func() {
		unlock, err := Lock(t.Context(), file, func(string) { close(waiting) })
		if err == nil {
			defer unlock()
		}
		got <- err
	}()
	<-waiting
	must(t, os.RemoveAll(filepath.Dir(file)))
	unlock()
	select {
	case err := <-got:
		must(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("the waiting process never got the lock")
	}
}

func TestSameFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	f, err := os.Create(file)
	must(t, err)
	defer f.Close()
	if !sameFile(f, file) {
		t.Error("the open file is not recognized")
	}
	must(t, os.Remove(file))
	if sameFile(f, file) {
		t.Error("a removed file is recognized")
	}
	must(t, os.WriteFile(file, nil, 0o600))
	if sameFile(f, file) {
		t.Error("a replaced file is recognized")
	}
}
