package restore

import "slices"

// Situation is what is lost, and so how the host gets its data back.
type Situation string

// The situations.
const (
	// Single is a cluster with one member, whose data is lost or replaced.
	Single Situation = "Single"
	// Replace is a member without its data while the others have the quorum. It never gets the data
	// of a backup: a new member copies that of the others.
	Replace Situation = "Replace"
	// All is a cluster of several members without a quorum: every member restores the same backup.
	All Situation = "All"
)

// Description returns what happens in a situation.
func (s Situation) Description() string {
	switch s {
	case Single:
		return "the only member of etcd gets the data of the backup"
	case Replace:
		return "the other members of etcd serve: this host gets an empty member that copies their data, and nothing is restored from the backup"
	case All:
		return "every member of etcd gets the data of the same backup"
	}
	return string(s)
}

// Decision is what a host does.
type Decision struct {
	Situation Situation
	// Refusals are why it must not start. It may start only if there are none.
	Refusals []Refusal
	// Order is the order in which the hosts restore, by the names of their members.
	Order []string
}

// Decide returns how a host gets its data back, and why it must not start.
func Decide(o Observation) Decision {
	d := Decision{Situation: situation(o), Order: order(o)}
	d.Refusals = refuse(o, func(c check) bool { return slices.Contains(c.situations, d.Situation) })
	return d
}

func situation(o Observation) Situation {
	switch {
	case len(o.Backup.Members) <= 1:
		return Single
	case o.Etcd.Others && !o.Etcd.Serves:
		return Replace
	default:
		return All
	}
}

// order returns the names of the members, sorted.
func order(o Observation) []string {
	var names []string
	for _, m := range o.Backup.Members {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names
}
