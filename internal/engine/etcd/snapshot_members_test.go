package etcd

import (
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// A member that was added and has not started has no name, and no data to restore.
func TestMemberThatNeverStartedIsNotRestored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucket(memberBucket)
		must(t, err)
		must(t, bucket.Put([]byte("1"), []byte(`{"name":"cp-1","peerURLs":["https://10.0.0.1:2380"]}`)))
		return bucket.Put([]byte("2"), []byte(`{"peerURLs":["https://10.0.0.2:2380"],"isLearner":true}`))
	}))
	must(t, db.Close())
	members, err := SnapshotMembers(path)
	if err != nil || len(members) != 1 || members[0].Name != "cp-1" {
		t.Errorf("%v, %v", members, err)
	}
}
