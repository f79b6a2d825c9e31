package etcd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/bbolt"
)

// memberBucket has the members of the cluster, as JSON by their hexadecimal IDs.
var memberBucket = []byte("members")

// SnapshotMember is a member as a snapshot describes it.
type SnapshotMember struct {
	Name       string   `json:"name"`
	PeerURLs   []string `json:"peerURLs"`
	ClientURLs []string `json:"clientURLs"`
	Learner    bool     `json:"isLearner"`
}

// SnapshotMembers returns the members of the cluster in a snapshot, by ID. One that was added and
// has not started has no name, and is left out.
func SnapshotMembers(path string) ([]SnapshotMember, error) {
	db, err := bbolt.Open(path, 0o400, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("cannot open the snapshot of etcd: %w", err)
	}
	defer db.Close()
	var members []SnapshotMember
	err = db.View(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket(memberBucket)
		if bucket == nil {
			return nil
		}
		return bucket.ForEach(func(_, value []byte) error {
			var m SnapshotMember
			if err := json.Unmarshal(bytes.Clone(value), &m); err != nil {
				return err
			}
			if m.Name == "" {
				return nil
			}
			// The URLs of a member are host names and addresses of this network.
			if len(m.PeerURLs) == 0 || strings.ContainsAny(m.Name, "=, \n") {
				return fmt.Errorf("the member %q has no valid name or no peer URL", m.Name)
			}
			members = append(members, m)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the members in the snapshot of etcd: %w", err)
	}
	return members, nil
}

// dataTimeout bounds the wait for the database of a running etcd, which locks it.
const dataTimeout = 2 * time.Second

// DataRevision returns the newest revision in the database of a stopped member. It fails if etcd
// runs, and for a lost or corrupt database.
func DataRevision(file string) (int64, error) {
	db, err := bbolt.Open(file, 0o400, &bbolt.Options{ReadOnly: true, Timeout: dataTimeout})
	if err != nil {
		return 0, fmt.Errorf("cannot open the data of etcd: %w", err)
	}
	defer db.Close()
	var revision int64
	err = db.View(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket(keyBucket)
		if bucket == nil {
			return nil
		}
		if key, _ := bucket.Cursor().Last(); len(key) >= revisionSize {
			revision = revisionOf(key)
		}
		return nil
	})
	return revision, err
}
