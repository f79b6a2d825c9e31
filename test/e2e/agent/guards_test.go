//go:build e2e

package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// guard is a safeguard of the agent, with a fault that it protects against.
type guard struct {
	name string
	// file is the source file with the guard, old is the guard's text, and without replaces that
	// text.
	file, old, without string
	where              func() *scene
	// fault runs on a host whose agent lacks the guard. It returns nil if the host ends up healthy
	// regardless.
	fault func(fault) error
}

// TestAgentGuards removes guards from the agent, one at a time, and verifies that the host does not
// end up healthy: the tests that pass with the guard would detect its loss.
func TestAgentGuards(t *testing.T) {
	s := &scenes{t: t}
	for _, g := range []guard{
		{
			"fsync of files", "internal/engine/host/write.go", "syncFile = (*os.File).Sync", "syncFile = func(*os.File) error { return nil }",
			s.onWorker, powerCutAfterStaging,
		},
		{
			"the look at the world after a crash", "internal/agent/runner.go", "done, err = r.probe(ctx, action)", "done = move.Open && !move.Retry",
			s.onWorker, killedBeforeSwap,
		},
		{
			"saved manifests", "internal/agent/steps/save.go", "paths = append(paths, manifest(component))", "_ = component",
			s.onControlPlane, apiServerFails,
		},
	} {
		t.Run(g.name, func(t *testing.T) {
			program := g.takenOut(t)
			sc := g.where()
			sc.b.clearFaults()
			sc.start.putBack(t)
			must(t, sc.n.CopyTo(t.Context(), program, agentProgram))
			if sc.start.orders == nil {
				sc.b.order(t, sc.n, permit(refitv1alpha1.PermitPrefetch))
			}
			must(t, sc.n.Start(t.Context()))
			must(t, sc.b.WaitRecovered(t.Context(), recovery))
			err := g.fault(fault{t, sc})
			if err == nil {
				t.Errorf("without %s all went well: nothing shows that it is needed", g.name)
			}
			t.Logf("without %s: %v", g.name, err)
		})
	}
}

// takenOut builds the agent with the guard's text replaced.
func (g guard) takenOut(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	must(t, err)
	source := filepath.Join(root, g.file)
	text, err := os.ReadFile(source)
	must(t, err)
	if strings.Count(string(text), g.old) != 1 {
		t.Fatalf("%s does not have %q once: the guard has moved", g.file, g.old)
	}
	dir := t.TempDir()
	replaced, overlay := filepath.Join(dir, "replaced.go"), filepath.Join(dir, "overlay.json")
	must(t, os.WriteFile(replaced, []byte(strings.Replace(string(text), g.old, g.without, 1)), 0o644))
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{source: replaced}})
	must(t, err)
	must(t, os.WriteFile(overlay, list, 0o644))
	program := filepath.Join(dir, "refit-agent")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-tags", "crashpoints", "-trimpath", "-buildvcs=false", "-o", program, "../../../cmd/refit-agent")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the agent without %s: %v: %s", g.name, err, out)
	}
	return program
}

// powerCutAfterStaging loses the files staged beside the binaries that are to be replaced.
func powerCutAfterStaging(f fault) error {
	t, s := f.t, f.s
	s.standAt(t, "stage-files/done")
	must(t, s.n.Kill(t.Context()))
	must(t, s.n.Start(t.Context()))
	return s.endsWell(t.Context(), refitv1alpha1.NodeSucceeded, s.r.Parts.Kubernetes)
}

// killedBeforeSwap kills the agent after it has recorded the start of the kubelet swap and before
// the swap.
func killedBeforeSwap(f fault) error {
	t, s := f.t, f.s
	must(t, crashAt(t.Context(), s.n, crashOnly, "swap-kubelet/started"))
	s.b.order(t, s.n, permit(refitv1alpha1.PermitApply))
	return s.endsWell(t.Context(), refitv1alpha1.NodeSucceeded, s.r.Parts.Kubernetes)
}

// apiServerFails requires a rollback.
func apiServerFails(f fault) error {
	t, s := f.t, f.s
	s.b.prefetch(t, s.r, s.n)
	must(t, s.b.apiServerArgument(t.Context(), "no-such-flag"))
	s.b.order(t, s.n, permit(refitv1alpha1.PermitApply))
	return s.endsWell(t.Context(), refitv1alpha1.NodeRolledBack, s.b.Spec().Kubernetes)
}

// endsWell waits for the end of an operation and checks the node.
func (s *scene) endsWell(ctx context.Context, phase refitv1alpha1.NodePhase, version string) error {
	if _, err := s.b.waitPhase(ctx, s.n, checkTimeout, phase); err != nil {
		return err
	}
	if err := s.b.WaitReady(ctx, recovery); err != nil {
		return err
	}
	if err := s.b.NodeAt(ctx, s.n, version); err != nil {
		return fmt.Errorf("the agent is content, but %w", err)
	}
	return nil
}
