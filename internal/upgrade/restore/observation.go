package restore

import "time"

// Observation is what a host observes before it restores anything.
type Observation struct {
	Now time.Time
	// Run is the one that would begin or continue.
	Run    Run
	Backup Backup
	Host   Host
	Etcd   Etcd
	// Waived are the reasons of refusals that the operator waived by name.
	Waived []string
}

// Backup is a backup that was fetched, decrypted and verified.
type Backup struct {
	ID         string // UID/ATTEMPT
	Digest     string
	ClusterUID string
	Time       time.Time
	// EtcdVersion is the version that wrote the data.
	EtcdVersion    string
	Revision, Keys int64
	// Size is the size of the database in bytes.
	Size int64
	// CAs are the digests of the public keys of the cluster's CA in the backup.
	CAs []string
	// Members are the members of etcd at that time.
	Members []Member
	// Recorded is set if the digest was recorded outside of the store, which proves the origin.
	Recorded bool
}

// Member is a member of etcd.
type Member struct {
	Name       string   `json:"name"`
	PeerURLs   []string `json:"peerURLs"`
	ClientURLs []string `json:"clientURLs,omitempty"`
}

// Host is a control plane host.
type Host struct {
	// Member is the name of its etcd member, with the peer URLs of its manifest, comma-separated.
	Member  string
	PeerURL string
	// EtcdVersion is the version in its static pod manifest.
	EtcdVersion string
	// CAs are the digests of the public keys of the cluster's CA on the host; none if it is lost.
	CAs []string
	// ClusterUIDs are those of the recorded backups.
	ClusterUIDs []string
	// Revision is the last one that the host knows: of its data, or of a later backup.
	Revision int64
	// OpenUpgrade is set if an upgrade has changed the host and is unfinished.
	OpenUpgrade bool
	// Upgraded is the version that the last upgrade of the host installed, at UpgradedAt. It is
	// empty if there was none.
	Upgraded   string
	UpgradedAt time.Time
	// SeparateWAL is set if etcd keeps a part of its data in another directory or file system.
	SeparateWAL bool
	// ReadOnlyManifest is the file that the manifest of etcd is a symlink to, if its directory
	// cannot be written; else it is empty.
	ReadOnlyManifest string
	// Free is the free disk space of the data directory in bytes.
	Free uint64
}

// Etcd is the state of etcd as this host sees it.
type Etcd struct {
	// Serves is set if the member on this host answers a read that needs the quorum.
	Serves bool
	// Revision is that of the member on this host if it serves, 0 if it is unknown.
	Revision int64
	// Others is set if the other members do, without the one on this host.
	Others bool
	// LeftOut are the members that serve although the restore leaves them out.
	LeftOut []string
	// Data is set if the member has a readable database.
	Data bool
	// APIServer is set if the API server on this host is ready.
	APIServer bool
	// ClusterUID is that of the cluster that the API serves, empty if it is unknown. A member whose
	// data was deleted starts an empty cluster, which the API server serves.
	ClusterUID string
}
