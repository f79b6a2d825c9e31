package restore

import (
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/node"
)

func TestRestoreCanBeCanceledUntilAnAPIServerMayHaveServed(t *testing.T) {
	// until returns the journal of a restore that was interrupted in a step.
	until := func(s Situation, last string) (records []node.Record) {
		for _, step := range Steps(s) {
			records = append(records, node.Record{Kind: node.Started, Step: step.Name})
			if step.Name == last {
				return records
			}
			records = append(records, node.Record{Kind: node.Done, Step: step.Name})
		}
		return records
	}
	for name, tt := range map[string]struct {
		s     Situation
		step  string
		now   Serving
		final bool
	}{
		"the API server was not stopped":          {Single, RestoreData, Serving{Members: true, APIServer: true}, false},
		"the API server is stopped":               {Single, StopEtcd, Serving{}, false},
		"the data is moved":                       {Single, MoveData, Serving{}, false},
		"etcd serves the restored data":           {Single, StartAPIServer, Serving{Members: true}, false},
		"the API server is started":               {Single, StartAPIServer, Serving{Members: true, APIServer: true}, true},
		"other members do not serve":              {All, StartAPIServer, Serving{}, false},
		"API servers of other hosts may start":    {All, StartAPIServer, Serving{Members: true}, true},
		"the member is not replaced yet":          {Replace, MoveData, Serving{Members: true}, false},
		"the member may be replaced":              {Replace, ReplaceMember, Serving{}, true},
		"the data of one of three is not moved":   {Replace, StopEtcd, Serving{Members: true}, false},
		"all, and the first host was not stopped": {All, RestoreData, Serving{Members: true, APIServer: true}, false},
	} {
		records := until(tt.s, tt.step)
		if got := Final(tt.s, records, tt.now); (got != "") != tt.final {
			t.Errorf("%s: %q", name, got)
		}
		if got := Final(tt.s, append(records, node.Record{Kind: node.RollbackStarted}), tt.now); got != "" {
			t.Errorf("%s, canceled before: %q", name, got)
		}
	}
}
