package backup

import (
	"errors"
	"testing"
	"time"
)

func TestObjectsAreGroupedByAttempt(t *testing.T) {
	at := time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC)
	got := Group("p", []Object{
		{Key: Key("p", ID{otherUID, 1}, PartEtcd), Size: 1, Modified: at},
		{Key: Key("p", ID{testUID, 10}, PartEtcd), Size: 2, Modified: at},
		{Key: Key("p", ID{testUID, 2}, PartEtcd), Size: 3, Modified: at},
		{Key: Key("p", ID{testUID, 2}, PartHost), Size: 4, Modified: at.Add(time.Minute)},
		{Key: Key("p", ID{testUID, 2}, PartHost), Size: 5, Modified: at, Partial: true},
		{Key: "p/readme.txt", Size: 6, Modified: at},
	})
	var ids []ID
	for _, a := range got {
		ids = append(ids, a.ID)
	}
	if len(ids) != 3 || ids[0] != (ID{testUID, 2}) || ids[1] != (ID{testUID, 10}) || ids[2] != (ID{otherUID, 1}) {
		t.Fatalf("got %v", ids)
	}
	if a := got[0]; len(a.Objects) != 2 || len(a.Leftovers) != 1 || !a.Modified.Equal(at.Add(time.Minute)) {
		t.Errorf("got %+v", a)
	}
}

func TestBackupIsCompleteWithAllPartsOfTheirSize(t *testing.T) {
	for situation, tt := range map[string]struct {
		sizes map[string]int64
		want  error
	}{
		"all parts":         {map[string]int64{PartEtcd: 300, PartHost: 200}, nil},
		"part missing":      {map[string]int64{PartEtcd: 300}, ErrIncomplete},
		"part shorter":      {map[string]int64{PartEtcd: 300, PartHost: 199}, ErrIncomplete},
		"part longer":       {map[string]int64{PartEtcd: 301, PartHost: 200}, ErrIncomplete},
		"foreign files":     {map[string]int64{PartEtcd: 300, PartHost: 200, "notes": 1}, nil},
		"manifest, no part": {nil, ErrIncomplete},
	} {
		a := Attempt{Objects: map[string]Object{}}
		for name, size := range tt.sizes {
			a.Objects[name] = Object{Size: size}
		}
		if err := a.Complete(testManifest()); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", situation, err, tt.want)
		}
	}
}

func TestAttemptHasOneManifest(t *testing.T) {
	one, two := Digest([]byte("1")), Digest([]byte("2"))
	a := Attempt{Objects: map[string]Object{PartEtcd: {}}}
	if _, err := a.Manifest(); !errors.Is(err, ErrIncomplete) {
		t.Errorf("without manifest: %v", err)
	}
	a.Objects[ManifestName(one)] = Object{}
	if got, err := a.Manifest(); err != nil || got != one {
		t.Errorf("with a manifest: %s %v", got, err)
	}
	a.Objects[ManifestName(two)] = Object{}
	if _, err := a.Manifest(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("with two manifests: %v", err)
	}
}

func TestStoredBackupIsComparedWithItsRecord(t *testing.T) {
	digest := Digest([]byte("manifest"))
	for situation, tt := range map[string]struct {
		expected Expected
		want     error
	}{
		"everything known":    {Expected{testID, testCluster, digest, 41, 900 - 32}, nil},
		"only the ID known":   {Expected{ID: testID}, nil},
		"another backup":      {Expected{ID: ID{otherUID, 2}}, ErrOther},
		"replayed attempt":    {Expected{ID: ID{testUID, 3}}, ErrOther},
		"another cluster":     {Expected{ID: testID, ClusterUID: otherUID}, ErrOther},
		"forged by a bucket":  {Expected{ID: testID, ClusterUID: testCluster, ManifestDigest: Digest([]byte("x"))}, ErrOther},
		"another revision":    {Expected{ID: testID, Revision: 42}, ErrOther},
		"another snapshot":    {Expected{ID: testID, Size: 900}, ErrOther},
		"cluster and ID only": {Expected{ID: testID, ClusterUID: testCluster}, nil},
	} {
		if err := tt.expected.Check(testManifest(), digest); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", situation, err, tt.want)
		}
	}
}
