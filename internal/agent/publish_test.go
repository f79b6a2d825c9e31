package agent

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/socket"
	"github.com/refit-dev/refit/internal/agent/steps"
	"github.com/refit-dev/refit/internal/engine/agentsocket"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// shown is a socket of a test agent, and the documents that a follower has got from it.
type shown struct {
	config Config
	hub    *socket.Hub
	mu     sync.Mutex
	got    []cliv1alpha1.HostStatus
}

// show serves the status of an agent on a socket and follows it.
func show(t *testing.T, a *Agent) *shown {
	t.Helper()
	dir, err := os.MkdirTemp("", "refit") //nolint:usetesting // the path of a unix socket has at most 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &shown{config: Config{Socket: filepath.Join(dir, "agent.sock"), Log: slog.New(slog.DiscardHandler)}, hub: socket.NewHub()}
	a.status.showProcess(s.hub, "v1", "boot")
	a.status.setHost(a.state)
	a.status.show(func(p *published) { p.ready = true })
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { serveSocket(ctx, s.config, s.hub) })
	follower := &agentsocket.Follower{
		Socket: s.config.Socket, Lost: func(error) {}, Found: func() {},
		Report: func(d *cliv1alpha1.HostStatus) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.got = append(s.got, *d)
			return nil
		},
	}
	running.Go(func() { _ = follower.Follow(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	s.await(t, func(d *cliv1alpha1.HostStatus) bool { return d.Kind == cliv1alpha1.KindHostStatus })
	return s
}

// await returns the documents up to the first that matches.
func (s *shown) await(t *testing.T, matches func(*cliv1alpha1.HostStatus) bool) []cliv1alpha1.HostStatus {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		for i := range s.got {
			if matches(&s.got[i]) {
				found := s.got[:i+1]
				s.mu.Unlock()
				return found
			}
		}
		s.mu.Unlock()
	}
	t.Fatalf("no such document: %+v", s.got)
	return nil
}

func TestEachRecordOfTheJournalIsAnEvent(t *testing.T) {
	a := newTestAgent(t, &apiStub{})
	s := show(t, a)
	onlyKubelet(t, a, steps.Action{Do: func(context.Context, *steps.Host) error {
		return node.ManualIntervention("KubeletUnhealthy", nil, "-", "it does not start")
	}})
	for mustStep(t, a) && a.state.Open != "" {
		if state := node.Read(a.upgrade.journal.Records()); state.RollingBack {
			break
		}
	}
	must(t, a.upgrade.write(node.Record{Kind: node.UndoStarted, Step: node.StepKubelet}))
	must(t, a.upgrade.write(node.Record{Kind: node.Undone, Step: node.StepKubelet, Left: []string{"/etc/x: changed"}}))
	got := s.await(t, func(d *cliv1alpha1.HostStatus) bool { return len(d.Left) > 0 })

	records := a.upgrade.journal.Records()
	at := 0
	for i := 2; i <= len(records); i++ { // Opened and Ordered first
		want := node.Read(records[:i]).Status()
		found := false
		for ; at < len(got) && !found; at++ {
			found = got[at].Phase == string(want.Phase) && stepName(&got[at]) == want.Step && len(got[at].Steps) == len(want.Steps)
		}
		if !found {
			t.Fatalf("record %d, %s %s, has no event of its own", i, records[i-1].Kind, records[i-1].Step)
		}
	}
}

func stepName(d *cliv1alpha1.HostStatus) string {
	if d.Step == nil {
		return ""
	}
	return d.Step.Name
}

func TestRunningStepShowsWhenItRollsBack(t *testing.T) {
	a := newTestAgent(t, &apiStub{})
	s := show(t, a)
	var limit time.Time
	onlyKubelet(t, a, steps.Action{Do: func(ctx context.Context, h *steps.Host) error {
		limit, _ = ctx.Deadline()
		s.await(t, func(d *cliv1alpha1.HostStatus) bool {
			return stepName(d) == node.StepKubelet && d.Step.RollsBackAt.Equal(limit.UTC().Truncate(time.Second)) && d.Step.Deadline.Equal(d.Step.RollsBackAt)
		})
		h.ReportWait("waiting for the kubelet to start")
		s.await(t, func(d *cliv1alpha1.HostStatus) bool { return d.Waits != "" && d.Step.RollsBackAt.IsZero() })
		h.ReportWait("")
		return nil
	}})
	if !mustStep(t, a) {
		t.Error("the step did not run")
	}
	s.await(t, func(d *cliv1alpha1.HostStatus) bool { return d.Next == node.StepPostUpgrade && d.Step == nil })
	if limit.IsZero() {
		t.Error("the step has no deadline")
	}
}

func TestSocketShowsWhatIsNotInTheJournal(t *testing.T) {
	a := newTestAgent(t, &apiStub{})
	s := show(t, a)
	onlyKubelet(t, a, steps.Action{})
	a.status.setRefusal(&node.Refusal{Reason: "StaleEpoch", Message: "its author is no longer the leader"})
	s.await(t, func(d *cliv1alpha1.HostStatus) bool { return d.Refusal != nil && d.Refusal.Reason == "StaleEpoch" })
	a.status.setReachable(true)
	a.status.setReachable(false)
	s.await(t, func(d *cliv1alpha1.HostStatus) bool { return d.API != nil && d.API.Reachable })
	s.await(t, func(d *cliv1alpha1.HostStatus) bool { return d.API != nil && !d.API.Reachable })
	a.status.broken(node.HostBroken("JournalBroken", errors.New("token: abcdef.0123456789abcdef"), "Check the disk", "cannot write the journal"))
	got := s.await(t, func(d *cliv1alpha1.HostStatus) bool { return d.Phase == string(refitv1alpha1.NodeFailed) })
	last := got[len(got)-1]
	if last.Error == nil || last.Error.Reason != "JournalBroken" || last.Next != "" || last.Step != nil || strings.Contains(last.Error.Message, "abcdef") {
		t.Errorf("%+v %+v", last, last.Error)
	}
	if last.Agent == nil || last.Agent.PID != os.Getpid() || last.Agent.Version != "v1" || last.Sequence != a.state.Sequence {
		t.Errorf("%+v", last)
	}
}

// A heartbeat of the status writer, or a write to the API, is no change.
func TestUnchangedStatusIsNoEvent(t *testing.T) {
	a := newTestAgent(t, &apiStub{})
	s := show(t, a)
	for range 10 {
		a.status.change(func() {})
		a.status.setWaiting("")
	}
	a.status.setWaiting("something")
	if got := s.await(t, func(d *cliv1alpha1.HostStatus) bool { return d.Waits != "" }); len(got) != 2 {
		t.Errorf("%d documents, want 2: %+v", len(got), got)
	}
}

func TestAgentWorksWithoutItsSocket(t *testing.T) {
	var log strings.Builder
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	serveSocket(t.Context(), Config{Socket: filepath.Join(file, "agent.sock"), Log: slog.New(slog.NewTextHandler(&log, nil))}, socket.NewHub())
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=WARN") {
		t.Errorf("logged %q", got)
	}
}

// The command and the socket have one builder, so they agree on everything but the process.
func TestCommandAndSocketAgree(t *testing.T) {
	a := newTestAgent(t, &apiStub{})
	s := show(t, a)
	onlyKubelet(t, a, steps.Action{Do: func(context.Context, *steps.Host) error {
		return node.ManualIntervention("KubeletUnhealthy", nil, "-", "it does not start")
	}})
	mustStep(t, a)
	got := s.await(t, func(d *cliv1alpha1.HostStatus) bool { return d.Error != nil })
	live := got[len(got)-1]
	files := documentOf(a.state, node.Read(a.upgrade.journal.Records()), live.ObservedAt)
	live.Agent, live.Waits = nil, ""
	if files.ObservedAt = live.ObservedAt; !reflect.DeepEqual(&live, files) {
		t.Errorf("socket: %+v\nfiles: %+v", live, files)
	}
}
