package backup

import (
	"crypto/sha256"
	"fmt"
	"strconv"
)

// Expected is what an EtcdBackup or the record of a host contains about a backup. Empty fields are
// unknown, except the ID.
//
// Recipients are public, so a writer of the bucket can forge a whole backup. Only ManifestDigest
// proves the origin of one.
type Expected struct {
	ID             ID
	ClusterUID     string
	ManifestDigest string
	// Revision and Size are those of the snapshot, as the host that took it has read them.
	Revision, Size int64
}

// Check compares a stored manifest with what is expected.
func (e Expected) Check(m *Manifest, digest string) error {
	for _, field := range []struct{ name, got, want string }{
		{"backup", m.BackupUID, e.ID.UID},
		{"attempt", fmt.Sprint(m.Attempt), fmt.Sprint(e.ID.Attempt)},
		{"cluster", m.ClusterUID, e.ClusterUID},
		{"digest of the manifest", digest, e.ManifestDigest},
		{"revision", number(m.Revision), number(e.Revision)},
		{"size of the snapshot", number(m.snapshotSize()), number(e.Size)},
	} {
		if field.want != "" && field.got != field.want {
			return fmt.Errorf("%w: the %s is %q instead of %q", ErrOther, field.name, field.got, field.want)
		}
	}
	return nil
}

// number formats a number, and the unknown 0 as nothing.
func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// snapshotSize is the size of etcd's database. Its digest follows it.
func (m *Manifest) snapshotSize() int64 {
	part, _ := m.Part(PartEtcd)
	return part.Plain.Size - sha256.Size
}
