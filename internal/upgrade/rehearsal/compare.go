package rehearsal

import (
	"errors"
	"fmt"
)

// Figures describe the content of a backup. Zero values are unknown.
type Figures struct {
	Revision int64  `json:"revision,omitempty"`
	Keys     int64  `json:"keys,omitempty"` // as `etcdutl snapshot status` counts them, which depends on its version
	Hash     uint32 `json:"hash,omitempty"` // of the file, as `etcdutl snapshot status` prints it
	// Entries is the number of entries in the restored key-value store, old revisions included, and
	// EntriesHash is their hash.
	Entries     int64  `json:"entries,omitempty"`
	EntriesHash uint32 `json:"entriesHash,omitempty"`
	// HashKV is etcd's hash of all keys up to HashRevision, since CompactRevision. The same data
	// has the same hash on every member, so it connects a restored copy with the live cluster.
	HashKV          uint32 `json:"hashKV,omitempty"`
	HashRevision    int64  `json:"hashRevision,omitempty"`
	CompactRevision int64  `json:"compactRevision,omitempty"`
	Bytes           int64  `json:"bytes,omitempty"`
}

// Compare returns the differences between what a backup must contain and what a restored one has.
func Compare(expected, restored Figures) error {
	var errs []error
	for _, figure := range []struct {
		name      string
		want, got int64
	}{
		{"revision", expected.Revision, restored.Revision},
		{"number of keys", expected.Keys, restored.Keys},
		{"number of entries", expected.Entries, restored.Entries},
		{"hash of the entries", int64(expected.EntriesHash), int64(restored.EntriesHash)},
		{"hash of the file", int64(expected.Hash), int64(restored.Hash)},
	} {
		if figure.want != 0 && figure.want != figure.got {
			errs = append(errs, fmt.Errorf("the %s is %d, and that of the backup is %d", figure.name, figure.got, figure.want))
		}
	}
	return errors.Join(append(errs, compareKV(expected, restored))...)
}

// compareKV compares the hashes of the keys, which are comparable only for the same range of
// revisions.
func compareKV(expected, restored Figures) error {
	switch {
	case expected.HashKV == 0:
		return nil
	case expected.HashRevision != restored.HashRevision || expected.CompactRevision != restored.CompactRevision:
		return fmt.Errorf("the hash covers the revisions %d to %d, and that of the backup %d to %d",
			restored.CompactRevision, restored.HashRevision, expected.CompactRevision, expected.HashRevision)
	case expected.HashKV != restored.HashKV:
		return fmt.Errorf("the hash of the keys is %d, and that of the backup is %d", restored.HashKV, expected.HashKV)
	}
	return nil
}
