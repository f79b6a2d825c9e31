package v1alpha1

import "time"

// KindRestore is the kind of the document about a restore.
const KindRestore = "Restore"

// Restore is the result of `refit restore`: how etcd gets the data of a backup back.
type Restore struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`

	Backup   string    `json:"backup"`
	Time     time.Time `json:"time"` // of the backup
	Revision int64     `json:"revision"`
	// Deleted is when retention marked the backup as deleted. The commands work only while the
	// store still has its objects.
	Deleted time.Time `json:"deleted,omitzero"`
	// Situation is Single, Replace or All. Description explains it.
	Situation   string `json:"situation"`
	Description string `json:"description"`
	// Serving is set if the API reports every member of etcd as ready. It may be minutes old.
	Serving bool `json:"serving,omitempty"`
	// Lost is what the restore discards.
	Lost []string `json:"lost,omitempty"`
	// Identity is the file with the identity that each command reads on its node; empty if none is
	// needed.
	Identity string `json:"identity,omitempty"`
	// Copy is what nodes need that have not taken the backup, nil if they need nothing.
	Copy *RestoreCopy `json:"copy,omitempty"`
	// Commands run in this order, each after the one before has ended.
	Commands []RestoreCommand `json:"commands"`
}

// RestoreCopy is a backup in a directory of the node that has taken it. Shared storage needs no
// copy.
type RestoreCopy struct {
	Directory string   `json:"directory"`
	From      string   `json:"from"`
	To        []string `json:"to"`
}

// RestoreCommand is the command for one node.
type RestoreCommand struct {
	Node    string `json:"node"`
	Command string `json:"command"`
}
