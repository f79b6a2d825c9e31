package restore

import (
	"slices"
	"time"
)

// Guide is how an operator restores etcd while the API serves.
type Guide struct {
	Situation Situation
	Lost      []string
	Commands  []Command
}

// Command is the command for the host of one member.
type Command struct {
	Member string
	Args   []string
}

// NewGuide returns the commands for a cluster whose API serves, and so has a quorum: a minority
// that is not ready is replaced. Else the operator wants the data of the backup instead of what the
// members serve; the Pods of a majority that serves can still be unready after a start. Options are
// flags for every command that restores the backup.
func NewGuide(now time.Time, b Backup, ready, unready, options []string) Guide {
	plan := Plan{Situation: Single, Backup: b.ID, Digest: b.Digest, Options: options}
	members := slices.Sorted(slices.Values(slices.Concat(ready, unready)))
	if len(unready) > 0 && len(ready) > len(members)/2 {
		g := Guide{Situation: Replace}
		for _, name := range slices.Sorted(slices.Values(unready)) {
			g.Commands = append(g.Commands, Command{name, []string{"refit-agent", "restore", "--yes"}})
		}
		return g
	}
	plan.Run = NewRun(now)
	plan.Options = append(slices.Clone(options), "--waive="+EtcdServes)
	g := Guide{Situation: Single, Lost: Lost(Observation{Now: now, Backup: b})}
	if len(members) > 1 {
		g.Situation = All
	}
	var after []string
	for _, name := range members {
		g.Commands = append(g.Commands, Command{name, append(plan.command(after), "--yes")})
		after = append(after, name)
	}
	return g
}
