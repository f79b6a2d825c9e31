package preflight

import (
	"fmt"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

const (
	clockSkewWarn  = 5 * time.Second
	clockSkewBlock = 2 * time.Minute
)

// localClockSkewed reports the clock of the laptop or the controller: timeouts and soaks would be
// wrong.
func localClockSkewed(v *view) []Finding {
	if v.Snapshot.ClockOffset.Abs() <= policy.MaxClockSkew {
		return nil
	}
	return []Finding{{
		Message: fmt.Sprintf("the clock of the machine that runs Refit is %s the API servers'", apart(v.Snapshot.ClockOffset)),
		Remedy:  "Fix the time synchronization on that machine: `timedatectl status`; then restart chrony or systemd-timesyncd",
	}}
}

// apiServerClockSkewed compares each API server with most of them. The agent on such a host may not
// find that: it compares with the API server of its own host.
func apiServerClockSkewed(v *view) []Finding {
	var found []Finding
	for i := range v.Snapshot.APIServers {
		server := &v.Snapshot.APIServers[i]
		if server.ClockAhead == nil {
			continue
		}
		ahead := *server.ClockAhead + v.Snapshot.ClockOffset
		if ahead.Abs() <= policy.MaxClockSkew {
			continue
		}
		f := Finding{
			Object: policy.NodeObject(server.Node), Severity: Warn,
			Message: fmt.Sprintf("the clock of the API server on %s is %s the others'", server.Node, apart(ahead)), Remedy: fixClock(server.Node),
		}
		if ahead.Abs() >= clockSkewBlock {
			f.Severity = Block
		}
		found = append(found, f)
	}
	return found
}

func clockSkewed(v *view) []Finding {
	return v.onHosts(func(n *node, r *refitv1alpha1.NodeReportStatus) Finding {
		if r.ClockOffsetMilliseconds == nil {
			return Finding{}
		}
		ahead := time.Duration(min(max(*r.ClockOffsetMilliseconds, -1e12), 1e12)) * time.Millisecond
		f := Finding{
			Severity: Warn,
			Message:  fmt.Sprintf("the clock of %s is %s the API server's", n.Name, apart(ahead)),
			Remedy:   fixClock(n.Name),
		}
		switch {
		case ahead.Abs() >= clockSkewBlock:
			f.Severity = Block
			f.Message += ": certificates and leases are not reliable"
		case ahead.Abs() < clockSkewWarn:
			return Finding{}
		}
		return f
	})
}

func fixClock(node string) string {
	return fmt.Sprintf("Fix the time synchronization on %s: `timedatectl status`; then restart chrony or systemd-timesyncd", node)
}

// apart formats a difference between two clocks, to be followed by the other clock.
func apart(ahead time.Duration) string {
	if ahead < 0 {
		return (-ahead).String() + " behind"
	}
	return ahead.String() + " ahead of"
}
