package restore

import (
	"slices"
	"time"
)

// Plan is what an operator confirmed. A host keeps it beside the journal, so that the same command
// continues after a crash.
type Plan struct {
	Run       Run       `json:"run"`
	Situation Situation `json:"situation"`
	// Backup is UID/ATTEMPT, and Digest that of its manifest. Both are empty if the member is
	// replaced without a backup.
	Backup     string    `json:"backup"`
	Digest     string    `json:"digest"`
	ClusterUID string    `json:"clusterUID"`
	Revision   int64     `json:"revision"`
	Time       time.Time `json:"time"`
	Members    []Member  `json:"members"`
	// Member is the one of this host, and After the hosts that were restored before it.
	Member string   `json:"member"`
	After  []string `json:"after,omitempty"`
	// EtcdImage is the image in the manifest of etcd, and DataDir its data on the host.
	EtcdImage string `json:"etcdImage"`
	DataDir   string `json:"dataDir"`
	// Options are the flags for the commands on the other hosts, such as the identity.
	Options []string `json:"options,omitempty"`
}

// String names the run and its backup.
func (p Plan) String() string {
	if p.Backup == "" {
		return p.Run.String()
	}
	return p.Run.String() + " of backup " + p.Backup
}

// Restored returns the names of the members that have their data back after this host.
func (p Plan) Restored() []string {
	names := append(slices.Clone(p.After), p.Member)
	slices.Sort(names)
	return slices.Compact(names)
}

// Remaining returns the names of the members that have not.
func (p Plan) Remaining() []string {
	var names []string
	if p.Situation != All {
		return nil
	}
	for _, m := range p.Members {
		if !slices.Contains(p.Restored(), m.Name) {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Quorum reports whether etcd can serve with the members that are restored.
func (p Plan) Quorum() bool { return len(p.Members)-len(p.Remaining()) > len(p.Members)/2 }

// Next returns the command for a remaining host.
func (p Plan) Next() []string { return p.command(p.Restored()) }

// command returns the command for a host that is restored after others.
func (p Plan) command(after []string) []string {
	command := []string{"refit-agent", "restore", "--backup=" + p.Backup, "--digest=" + p.Digest}
	if p.Run != 0 {
		command = append(command, "--run="+p.Run.String())
	}
	for _, name := range after {
		command = append(command, "--after="+name)
	}
	return append(command, p.Options...)
}
