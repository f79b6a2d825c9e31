package backup

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

func TestAttemptsAreListedWithTheirState(t *testing.T) {
	k, m := newKeys(t), newMemory()
	at := Target{m, "p"}
	id := func(attempt int) backup.ID { return backup.ID{UID: testUID, Attempt: attempt} }
	var stored []Stored
	for attempt := range 5 {
		stored = append(stored, mustStore(t, at, k.request(testCluster, id(attempt+1))))
	}
	manifest := func(n int) string { return backup.Key("p", id(n), backup.ManifestName(stored[n-1].Digest)) }
	delete(m.objects, manifest(2))
	m.objects[manifest(3)] = append(m.objects[manifest(3)], ' ')
	delete(m.objects, backup.Key("p", id(4), backup.PartHost))
	m.get = func(key string, content []byte) (io.Reader, error) {
		if key == manifest(5) {
			return iotest.ErrReader(backup.ErrUnreachable), nil
		}
		return iotest.DataErrReader(newReader(content)), nil
	}
	all, err := List(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	want := []backup.State{backup.Complete, backup.Unfinished, backup.Damaged, backup.Damaged, backup.Unknown}
	for i, l := range all {
		if l.State != want[i] || (l.Problem == nil) != (l.State == backup.Complete) || l.Size == 0 {
			t.Errorf("%s: %s, %v, %d bytes", l.ID, l.State, l.Problem, l.Size)
		}
	}
	if len(all) != 5 || all[0].Digest != stored[0].Digest {
		t.Errorf("got %d attempts", len(all))
	}
}

func TestPruneKeepsWhatRetentionKeeps(t *testing.T) {
	k, m := newKeys(t), newMemory()
	at := Target{m, "p"}
	var ids []backup.ID
	for n := range 4 {
		id := backup.ID{UID: testUID, Attempt: n + 1}
		r := k.request(testCluster, id)
		r.Time = testNow.Add(time.Duration(n-4) * 24 * time.Hour)
		mustStore(t, at, r)
		ids = append(ids, id)
	}
	foreign := backup.ID{UID: otherUID, Attempt: 1}
	mustStore(t, at, k.request(otherCluster, foreign))
	deleted, _, err := Prune(t.Context(), at, testNow, backup.Retention{
		ClusterUID: testCluster, Keep: backup.Keep{Last: 2},
		Proven: func(id backup.ID, _ string) bool { return id == ids[0] },
	}, unmarked)
	if err != nil || !slices.Equal(deleted, ids[1:2]) {
		t.Errorf("deleted %v, %v", deleted, err)
	}
	all, err := List(t.Context(), at)
	if err != nil || len(all) != 4 {
		t.Errorf("left %d, %v", len(all), err)
	}
	for _, l := range all {
		if l.State != backup.Complete {
			t.Errorf("%s: %s", l.ID, l.State)
		}
	}
}

func TestClockOfAHostDoesNotKeepABackupForever(t *testing.T) {
	k, m := newKeys(t), newMemory()
	at := Target{m, ""}
	r := k.request(testCluster, backup.ID{UID: testUID, Attempt: 1})
	r.Time = testNow.AddDate(50, 0, 0)
	mustStore(t, at, r)
	all, err := List(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	if got := candidate(backup.Retention{}, all[0]); !got.Time.Equal(testNow) {
		t.Errorf("the backup counts as one of %s", got.Time)
	}
}

func unmarked(context.Context, backup.ID) error { return nil }

func TestFailedDeletionIsReturned(t *testing.T) {
	k, m := newKeys(t), newMemory()
	for n := range 2 {
		r := k.request(testCluster, backup.ID{UID: testUID, Attempt: n + 1})
		r.Time = testNow.Add(time.Duration(n-4) * time.Hour)
		mustStore(t, Target{m, ""}, r)
	}
	deleted, _, err := Prune(t.Context(), Target{undeletable{m}, ""}, testNow, backup.Retention{ClusterUID: testCluster, Keep: backup.Keep{Last: 1}}, unmarked)
	if !errors.Is(err, backup.ErrDenied) || len(deleted) != 0 {
		t.Errorf("deleted %v, %v", deleted, err)
	}
}
