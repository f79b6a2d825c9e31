package agent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// clockStub is an API whose servers' clock differs from that of the host.
type clockStub struct {
	*operationStub
	ahead  time.Duration
	silent bool
	reads  int
}

func (s *clockStub) ServerTime(context.Context) (server, host time.Time, err error) {
	if s.silent {
		return time.Time{}, time.Time{}, errors.New("connection refused")
	}
	s.reads++
	return time.Now().Add(s.ahead), time.Now(), nil
}

// inWindow returns an agent whose order has to start within a time by the API servers' clock.
func inWindow(t *testing.T, ahead, left time.Duration) (*Agent, *clockStub) {
	t.Helper()
	a, operation := beforeFirstChange(t)
	stub := &clockStub{operationStub: operation, ahead: ahead}
	a.client = stub
	a.upgrade.late = func(move node.Move) bool {
		now, known := a.clock.now()
		return known && node.Read(a.upgrade.journal.Records()).Late(move, now) != nil
	}
	record(t, a, node.Record{Kind: node.Ordered, Order: &node.Order{
		Operation: "op-uid", Sequence: 9, Permit: refitv1alpha1.PermitApply, NotAfter: time.Now().Add(ahead + left),
	}})
	return a, stub
}

func TestTheClockOfTheClusterDecidesWhetherAChangeIsLate(t *testing.T) {
	for situation, c := range map[string]struct {
		ahead, left time.Duration
		silent      bool
		want        string
	}{
		"in time": {0, time.Minute, false, ""},
		"late":    {0, -time.Minute, false, "the change had to start by"},
		"late, and the clock of the host is behind":  {10 * time.Minute, -time.Minute, false, "the change had to start by"},
		"in time, and the clock of the host is fast": {-10 * time.Minute, time.Minute, false, ""},
		"nobody knows the time":                      {0, time.Minute, true, "cannot read the time of the API server"},
	} {
		t.Run(situation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, stub := inWindow(t, c.ahead, c.left)
				stub.silent = c.silent
				may, err := a.mayMove(t.Context())
				if got := waiting(a); err != nil || may != (c.want == "") || !strings.Contains(got, c.want) || c.want == "" && got != "" {
					t.Errorf("may move: %t, waiting: %q, error: %v", may, got, err)
				}
			})
		})
	}
}

// TestAnAgentThatWasSuspendedStartsNothing suspends the agent between its check and the step: its
// probe takes until the window is closed.
func TestAnAgentThatWasSuspendedStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := inWindow(t, 0, time.Minute)
		a.upgrade.host.ReportWait = a.status.setWaiting
		did := false
		before := steps.Actions[node.StepKubeletConfig]
		steps.Actions[node.StepKubeletConfig] = steps.Action{
			Probe: func(context.Context, *steps.Host) (bool, error) { time.Sleep(2 * time.Minute); return false, nil },
			Do:    func(context.Context, *steps.Host) error { did = true; return nil },
		}
		t.Cleanup(func() { steps.Actions[node.StepKubeletConfig] = before })
		if may, err := a.mayMove(t.Context()); !may || err != nil {
			t.Fatalf("may move: %t, %v", may, err)
		}
		if move := node.Next(a.upgrade.journal.Records()); move.Step.Name != node.StepKubeletConfig {
			t.Fatalf("the next step is %s", move.Step.Name)
		}
		if _, err := a.upgrade.move(t.Context()); !errors.Is(err, errLate) || did {
			t.Errorf("it acted: %t, error: %v", did, err)
		}
		if may, err := a.mayMove(t.Context()); may || err != nil || waiting(a) == "" {
			t.Errorf("may move: %t, waiting: %q, error: %v", may, waiting(a), err)
		}
	})
}
