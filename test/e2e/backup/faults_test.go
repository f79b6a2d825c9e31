//go:build e2e

package backup

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	format "github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/test/e2e/bed"
)

// TestBackupStoreIsFull requires that a backup which does not fit fails and leaves nothing, and
// that a smaller one fits afterwards. MinIO frees space within five minutes.
func TestBackupStoreIsFull(t *testing.T) {
	small := func(t *testing.T) string { t.Helper(); return bed.SmallDisk(t, 160) }
	eachStore(t, small, func(t *testing.T, s backup.Objects, _ string) {
		t.Helper()
		at, k := backup.Target{Store: s}, newKeyPair(t)
		_, err := backup.Store(t.Context(), at, k.request(1, 200, time.Now()))
		if err == nil {
			t.Fatal("a backup larger than the disk was stored")
		}
		t.Log(err)
		// The server for GCS returns status 500 for a full disk.
		if _, gcs := s.(*store.GCS); !gcs && !errors.Is(err, format.ErrFull) {
			t.Errorf("got %v, want %v", err, format.ErrFull)
		}
		requireStates(t, at)
		deadline := time.Now().Add(6 * time.Minute)
		for attempt := 2; ; attempt++ {
			_, err = backup.Store(t.Context(), at, k.request(attempt, 20, time.Now()))
			if !errors.Is(err, format.ErrFull) || time.Now().After(deadline) {
				break
			}
			time.Sleep(5 * time.Second)
		}
		if err != nil {
			t.Errorf("a smaller backup: %v", err)
		}
		requireStates(t, at, format.Complete)
	})
}

// TestBackupNetworkCut cuts or silences the network during the upload, at several places.
func TestBackupNetworkCut(t *testing.T) {
	t.Run("MinIO", func(t *testing.T) {
		to := bed.StartMinIO(t, loopback, t.TempDir()).Address
		testCuts(t, to, func(t *testing.T, address string) backup.Objects {
			t.Helper()
			return openS3(t, address, bed.SecretKey)
		})
	})
	t.Run("GCS", func(t *testing.T) {
		testCuts(t, bed.StartGCS(t, loopback, t.TempDir()).Address, openGCS)
	})
}

func testCuts(t *testing.T, to string, open func(t *testing.T, address string) backup.Objects) {
	t.Helper()
	k, direct := newKeyPair(t), backup.Target{Store: open(t, to)}
	attempt := 0
	for _, tt := range []struct {
		situation string
		bytes     int64
		silent    bool
	}{
		{"cut before the first answer", 10, false},
		{"cut during the first upload", 5 * mebibyte, false},
		{"cut during a later upload", 35 * mebibyte, false},
		{"silent from the start", 10, true},
		{"silent during an upload", 20 * mebibyte, true},
	} {
		t.Run(tt.situation, func(t *testing.T) {
			attempt++
			p := bed.NewProxy(t, loopback, to, tt.bytes, tt.silent)
			start := time.Now()
			_, err := backup.Store(t.Context(), backup.Target{Store: open(t, p.Address)}, k.request(attempt, 40, time.Now()))
			if !errors.Is(err, format.ErrUnreachable) {
				t.Errorf("got %v, want %v", err, format.ErrUnreachable)
			}
			t.Logf("after %s: %v", time.Since(start).Round(time.Second), err)
			all, err := backup.List(t.Context(), direct)
			if err != nil {
				t.Error(err)
			}
			for _, l := range all {
				if l.State == format.Complete {
					t.Errorf("%s counts", l.ID)
				}
			}
		})
	}
	if _, err := backup.Store(t.Context(), direct, k.request(attempt+1, 40, time.Now())); err != nil {
		t.Errorf("the next attempt: %v", err)
	}
}

func TestBackupWithWrongCredentials(t *testing.T) {
	address := bed.StartMinIO(t, loopback, t.TempDir()).Address
	const wrong = "wrong-secret-of-the-test"
	_, err := backup.Store(t.Context(), backup.Target{Store: openS3(t, address, wrong)}, newKeyPair(t).request(1, 1, time.Now()))
	if !errors.Is(err, format.ErrDenied) || strings.Contains(err.Error(), wrong) || strings.Contains(err.Error(), bed.AccessKey) {
		t.Errorf("got %v", err)
	}
}
