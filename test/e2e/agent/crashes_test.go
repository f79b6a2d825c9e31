//go:build e2e

package agent

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// Faults of the matrix.
const (
	faultKill = "kill" // SIGKILL to the agent
	faultCut  = "cut"  // the node loses power; unsynced writes are lost
)

const (
	// cutsVariable sets the number of power cuts for each role.
	cutsVariable = "REFIT_AGENT_CUTS"
	// partVariable selects the part of the matrix to run ("2/3"), so that several machines can
	// share it.
	partVariable = "REFIT_AGENT_PART"
)

// TestAgentCrashes restores a saved disk for every run. Some runs cut the power at one point. The
// others kill the agent at one point of every step, so that all points are covered by as many runs
// as the longest step has points; if such a run fails, each of its points gets a run of its own.
// Every run must end in the same state as the undisturbed run. The test takes hours and resumes
// where it stopped.
func TestAgentCrashes(t *testing.T) {
	part, _ := part(t)
	t.Run("control-plane", func(t *testing.T) {
		b := newBed(t, cluster.Spec{Name: fmt.Sprint("acrcp", part), Kubernetes: older, Disk: diskSize})
		newMatrix(t, b, b.First(cluster.RoleControlPlane), "control-plane").run(t)
	})
	t.Run("worker", func(t *testing.T) {
		b := newBed(t, cluster.Spec{Name: fmt.Sprint("acrw", part), Workers: 1, Kubernetes: older, Disk: diskSize})
		cp := b.First(cluster.RoleControlPlane)
		b.prefetch(t, b.CreateRelease(t, newer), b.Nodes()...) // kube-proxy changes on all nodes at the same time
		b.apply(t, cp)
		must(t, b.WaitReady(t.Context(), recovery))
		newMatrix(t, b, b.First(cluster.RoleWorker), "worker").run(t)
	})
}

// matrix holds the runs of one role.
type matrix struct {
	b       *agents
	n       *cluster.Node
	role    string
	release *bed.Release
	armed   saved
	results *results
	// clean is the state after the undisturbed run; points are the crash points that run passed.
	clean  bed.State
	points []string
}

// newMatrix saves the node with all files fetched and performs one undisturbed run.
func newMatrix(t *testing.T, b *agents, n *cluster.Node, role string) *matrix {
	t.Helper()
	m := &matrix{b: b, n: n, role: role, release: b.CreateRelease(t, newer), results: openResults(t, bed.BuildCrashing(t))}
	must(t, b.Smoke(t.Context()))
	b.prefetch(t, m.release, n)
	m.armed = b.save(t, n, "fetched")

	begun := time.Now()
	must(t, m.start(t, crashLog))
	must(t, m.end(t.Context()))
	var err error
	m.points, err = pointsOf(t.Context(), n)
	must(t, err)
	m.clean, err = bed.StateOf(t.Context(), n)
	must(t, err)
	t.Logf("an undisturbed run passes %d points and takes %.0f s from the disk", len(m.points), time.Since(begun).Seconds())
	must(t, b.Smoke(t.Context()))
	return m
}

// run performs all runs that have no result yet.
func (m *matrix) run(t *testing.T) {
	t.Helper()
	chosen := spread(m.points, bed.Count(t, cutsVariable, 10))
	for _, point := range mine(t, chosen) {
		m.try(t, "cut at "+point, faultCut, []string{point})
	}
	for i, round := range mine(t, rounds(m.points)) {
		if m.try(t, fmt.Sprint("kill, round ", i+1), faultKill, round) || len(round) == 1 {
			continue
		}
		for _, point := range round {
			m.try(t, "kill at "+point, faultKill, []string{point})
		}
	}
	m.results.tell(t, m.role, faultKill, m.points)
	m.results.tell(t, m.role, faultCut, chosen)
}

// part returns the index of this part and the number of parts of the matrix.
func part(t *testing.T) (which, of int) {
	t.Helper()
	text := os.Getenv(partVariable)
	if text == "" {
		return 1, 1
	}
	if n, err := fmt.Sscanf(text, "%d/%d", &which, &of); n != 2 || err != nil || which < 1 || which > of {
		t.Fatalf("%s is %q, and must be like 2/3", partVariable, text)
	}
	return which, of
}

// rounds distributes the points over runs: no run has two points of the same step.
func rounds(points []string) (all [][]string) {
	inStep := map[string]int{}
	for _, point := range points {
		step, _, _ := strings.Cut(point, "/")
		i := inStep[step]
		inStep[step]++
		if i == len(all) {
			all = append(all, nil)
		}
		all[i] = append(all[i], point)
	}
	return all
}

// mine returns the runs of this part.
func mine[T any](t *testing.T, runs []T) (own []T) {
	t.Helper()
	which, of := part(t)
	for i := which - 1; i < len(runs); i += of {
		own = append(own, runs[i])
	}
	return own
}

// spread selects evenly spaced points.
func spread(points []string, most int) []string {
	most = min(most, len(points))
	var chosen []string
	for i := range most {
		chosen = append(chosen, points[(2*i+1)*len(points)/(2*most)])
	}
	return slices.Compact(chosen)
}

// try performs one run with a fault at the points that have not passed yet, and reports whether it
// passed.
func (m *matrix) try(t *testing.T, name, fault string, points []string) bool {
	t.Helper()
	points = slices.DeleteFunc(slices.Clone(points), func(point string) bool { return m.results.has(m.role, point, fault) })
	if len(points) == 0 {
		return true
	}
	return t.Run(name, func(t *testing.T) {
		t.Logf("%s at %s", fault, strings.Join(points, ", "))
		begun, outcome := time.Now(), well
		if err := m.disturbed(t, fault, points); err != nil {
			outcome = err.Error()
			t.Error(err)
			m.b.LogIfFailed(t, "nodeupgrades")
		}
		for _, point := range points {
			m.results.add(t, result{Role: m.role, Point: point, Fault: fault, Together: len(points), Outcome: outcome, Seconds: time.Since(begun).Seconds()})
		}
	})
}

// disturbed performs one run with a fault at each of the points.
func (m *matrix) disturbed(t *testing.T, fault string, points []string) error {
	t.Helper()
	disturb := m.killed
	if fault == faultCut {
		disturb = m.cut
	}
	if err := disturb(t, points); err != nil {
		return err
	}
	if err := m.end(t.Context()); err != nil {
		return err
	}
	return m.sameAsClean(t.Context(), len(points))
}

// start boots the node from the saved disk and orders it to upgrade.
func (m *matrix) start(t *testing.T, mode string, points ...string) error {
	t.Helper()
	m.armed.putBack(t)
	if err := setPoints(t.Context(), m.n, mode, points...); err != nil {
		return err
	}
	order := func() error {
		_, err := m.b.tryOrder(t.Context(), m.n, permit(refitv1alpha1.PermitApply))
		return err
	}
	start := func() error { return m.n.Start(t.Context()) }
	if m.n.Role() == cluster.RoleWorker { // the cluster outlives the disk and may still hold the order of the previous run
		start, order = order, start
	}
	if err := start(); err != nil {
		return err
	}
	return order()
}

// killed performs a run in which the agent is killed at each of the points.
func (m *matrix) killed(t *testing.T, points []string) error {
	t.Helper()
	return m.start(t, crashOnly, points...)
}

// cut performs a run in which the power is cut while the agent is stopped at a point.
func (m *matrix) cut(t *testing.T, points []string) error {
	t.Helper()
	if err := m.start(t, crashStop, points...); err != nil {
		return err
	}
	if err := waitStanding(t.Context(), m.n); err != nil {
		return err
	}
	if err := m.n.Kill(t.Context()); err != nil {
		return err
	}
	if err := setPoints(t.Context(), m.n, crashLog); err != nil {
		return err
	}
	return m.n.Start(t.Context())
}

// end waits until the node is at the release.
func (m *matrix) end(ctx context.Context) error {
	if _, err := m.b.waitPhase(ctx, m.n, changing, refitv1alpha1.NodeSucceeded); err != nil {
		return err
	}
	if err := m.b.WaitReady(ctx, recovery); err != nil {
		return err
	}
	return until(ctx, "all to be at the release", checkTimeout, func(ctx context.Context) error { return m.b.AtRelease(ctx, m.n, m.release) })
}

// sameAsClean compares the end state of a run with that of the undisturbed run, and verifies that
// every fault took effect.
func (m *matrix) sameAsClean(ctx context.Context, faults int) error {
	is, err := bed.StateOf(ctx, m.n)
	if err != nil {
		return err
	}
	if err := is.Differences(m.clean); err != nil {
		return fmt.Errorf("the host is not as after an undisturbed run: %w", err)
	}
	lives, err := agentLives(ctx, m.n)
	if err == nil && lives < 1+faults {
		err = fmt.Errorf("the agent was started %d times, and %d faults need %d", lives, faults, 1+faults)
	}
	return err
}

// agentLives returns the number of agent starts in the last 20 minutes of the host's systemd
// journal.
func agentLives(ctx context.Context, n *cluster.Node) (int, error) {
	out, err := n.Exec(ctx, "journalctl", "--unit="+agentUnit, "--output=cat", "--no-pager", "--quiet", "--grep=^Started ", "--since=-20min")
	if err != nil {
		return 0, err
	}
	return len(slices.Collect(lines(string(out)))), nil
}
