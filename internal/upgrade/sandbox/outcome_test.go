package sandbox_test

import (
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

func TestOutcome(t *testing.T) {
	for want, c := range map[string]struct {
		outcome sandbox.Outcome
		itself  bool
	}{
		"it runs":                 {sandbox.Outcome{}, false},
		"exit status 2":           {sandbox.Outcome{Ended: true, Result: "exit-code", ExitStatus: 2}, true},
		"could not start it":      {sandbox.Outcome{Ended: true, Result: "exit-code", ExitStatus: 226}, false},
		"exceeded its memory":     {sandbox.Outcome{Ended: true, Result: "oom-kill", ExitStatus: 9}, false},
		"if it exceeds its":       {sandbox.Outcome{Ended: true, Result: "signal", ExitStatus: 9}, false},
		"result signal":           {sandbox.Outcome{Ended: true, Result: "signal", ExitStatus: 11}, true},
		"result core-dump":        {sandbox.Outcome{Ended: true, Result: "core-dump", ExitStatus: 6}, true},
		"time bound":              {sandbox.Outcome{Ended: true, Result: "timeout", ExitStatus: 15}, false},
		"it was stopped":          {sandbox.Outcome{Ended: true, Result: sandbox.Stopped}, false},
		"result resources":        {sandbox.Outcome{Ended: true, Result: "resources"}, false},
		"result of another cause": {sandbox.Outcome{Ended: true, Result: "of another cause"}, false},
	} {
		o := c.outcome
		if !strings.Contains(o.String(), want) || o.Failed() != o.Ended || o.FailedItself() != c.itself {
			t.Errorf("%q, failed %v, itself %v", o, o.Failed(), o.FailedItself())
		}
	}
	if success := (sandbox.Outcome{Ended: true, Result: "success"}); success.Failed() || success.FailedItself() {
		t.Error("success counts as a failure")
	}
}
