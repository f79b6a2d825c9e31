package backup

import "fmt"

// Expected is what an EtcdBackup or the record of a host contains about a backup. Empty fields are
// unknown, except the ID.
//
// Recipients are public, so a writer of the bucket can forge a whole backup. Only ManifestDigest
// proves the origin of one.
type Expected struct {
	ID             ID
	ClusterUID     string
	ManifestDigest string
}

// Check compares a stored manifest with what is expected.
func (e Expected) Check(m *Manifest, digest string) error {
	for _, field := range []struct{ name, got, want string }{
		{"backup", m.BackupUID, e.ID.UID},
		{"attempt", fmt.Sprint(m.Attempt), fmt.Sprint(e.ID.Attempt)},
		{"cluster", m.ClusterUID, e.ClusterUID},
		{"digest of the manifest", digest, e.ManifestDigest},
	} {
		if field.want != "" && field.got != field.want {
			return fmt.Errorf("%w: the %s is %q instead of %q", ErrOther, field.name, field.got, field.want)
		}
	}
	return nil
}
