//go:build e2e

package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// startTimeout is the maximum duration of the way through the wizard, with a check of the cluster.
const startTimeout = 4 * time.Minute

// numbers are what changes each second.
var numbers = regexp.MustCompile(`[0-9:]+`)

// TestServeOutage starts the upgrade of the only node of a cluster in the browser, and leaves the
// page open. The API server is down meanwhile, and the server is killed while it is.
func TestServeOutage(t *testing.T) {
	s := bed.NewSite(t, cluster.Spec{Name: "serve", Kubernetes: bed.Older}, false)
	s.Install(t)
	s.CreateRelease(t, bed.Newer)
	n := s.First(cluster.RoleControlPlane)
	url := start(t, s, n)
	blockOutgoing(t, n)
	o := observe(t, s)
	p := open(t, url, approver(t, s))
	killed := make(chan error, 1)
	go func() {
		<-o.down
		time.Sleep(5 * time.Second) // the page shows the outage before it loses the server
		_, err := n.Exec(context.WithoutCancel(t.Context()), "systemctl", "kill", "--signal=KILL", unit)
		killed <- err
	}()
	succeeds(t, s)
	select {
	case err := <-killed:
		bed.Must(t, err)
	default:
		t.Error("there was no outage")
	}
	time.Sleep(5 * time.Second) // the page shows the end
	seen := p.close(t)
	o.stop()
	<-o.ended

	shown := report(t, &judge{truth: o, steps: stepsOn(t, n)}, seen)
	if shown.unreachable == 0 || shown.explained == 0 || shown.lost == 0 {
		t.Errorf("the page did not show the outage, its reason and the loss of the server: %+v", shown)
	}
}

// TestServeThreeControlPlanes leaves the page open while three control plane nodes are upgraded one
// by one. The kubeconfig of the server names the first of them: its API server is down meanwhile,
// but those of the others answer.
func TestServeThreeControlPlanes(t *testing.T) {
	s := bed.NewSite(t, cluster.Spec{Name: "three", Kubernetes: bed.Older, ControlPlanes: 3}, false)
	s.Install(t)
	s.CreateRelease(t, bed.Newer)
	nodes := s.OfRole(cluster.RoleControlPlane)
	url := startAt(t, s, nodes[0], apiServerOn(nodes[0]))
	o := observe(t, s)
	p := open(t, url, approver(t, s))
	succeeds(t, s)
	time.Sleep(5 * time.Second) // the page shows the end
	seen := p.close(t)
	o.stop()
	<-o.ended
	if shown := report(t, &judge{truth: o, steps: stepsOn(t, nodes...)}, seen); shown.lost != 0 {
		t.Errorf("the page lost the server: %+v", shown)
	}
}

// stepsOn returns what the agents have done on nodes.
func stepsOn(t *testing.T, nodes ...*cluster.Node) (steps []cliv1alpha1.HostStep) {
	t.Helper()
	for _, n := range nodes {
		var host cliv1alpha1.HostStatus
		raw, err := n.Exec(t.Context(), bed.AgentBinary, "status", "-o", "json")
		bed.Must(t, err)
		bed.Must(t, json.Unmarshal(raw, &host))
		steps = append(steps, host.Steps...)
	}
	return steps
}

// moments counts what the page has shown.
type moments struct{ unreachable, explained, lost int }

// report prints the figures, and fails on each false statement or if the page ends without the
// success of the upgrade.
func report(t *testing.T, j *judge, seen []statements) (out moments) {
	t.Helper()
	lies := 0
	shown := ""
	for i := range seen {
		s := &seen[i]
		if now := fmt.Sprint(s.Serve, ", ", s.Phase, ", ", s.Banner, ": ", numbers.ReplaceAllString(s.Explanation, "N")); now != shown {
			shown = now
			t.Logf("%s the page shows: %s, %s: %s", s.At.Format(time.TimeOnly), s.Serve, s.Banner, s.Explanation)
		}
		for _, lie := range j.lies(s) {
			lies++
			t.Errorf("at %s %s: %+v", s.At.Format(time.TimeOnly), lie, *s)
		}
		switch {
		case s.Serve != "live":
			out.lost++
		case strings.HasPrefix(s.API, "unreachable"):
			out.unreachable++
			if strings.Contains(s.Banner, "as expected") {
				out.explained++
			}
		}
	}
	bed.Show(t, "serve_outage", j.truth.outages().Seconds(), "s")
	bed.Show(t, "serve_statements", float64(len(seen)), "moments")
	bed.Show(t, "serve_false_statements", float64(lies), "statements")
	bed.Show(t, "serve_unreachable_shown", float64(out.unreachable), "moments")
	bed.Show(t, "serve_outage_explained", float64(out.explained), "moments")
	bed.Show(t, "serve_disconnected", float64(out.lost), "moments")
	last := seen[len(seen)-1]
	if last.Phase != "Succeeded" || last.Serve != "live" || last.API != "answers" {
		t.Errorf("the page does not show the end: %+v", last)
	}
	return out
}

// succeeds waits until the upgrade has ended.
func succeeds(t *testing.T, s *bed.Site) {
	t.Helper()
	bed.Must(t, bed.Until(t.Context(), "the upgrade to end", bed.Whole, func(ctx context.Context) error {
		phase, err := s.Kubectl(ctx, nil, "get", "clusterupgrades", "--output=jsonpath={.items[*].status.phase}")
		if err == nil && string(phase) != string(refitv1alpha1.PhaseSucceeded) {
			err = fmt.Errorf("its phase is %s", phase)
		}
		return err
	}))
}

// approver returns the token of a new user who may start and approve upgrades.
func approver(t *testing.T, s *bed.Site) string {
	t.Helper()
	for _, args := range [][]string{
		{"create", "serviceaccount", "kim"},
		{"create", "clusterrolebinding", "kim-operator", "--clusterrole=refit-operator", "--serviceaccount=default:kim"},
		{"create", "clusterrolebinding", "kim-planner", "--clusterrole=refit-planner", "--serviceaccount=default:kim"},
		{"create", "clusterrolebinding", "kim-approver", "--clusterrole=refit-approver", "--serviceaccount=default:kim"},
	} {
		_, err := s.Kubectl(t.Context(), nil, args...)
		bed.Must(t, err)
	}
	token, err := s.Kubectl(t.Context(), nil, "create", "token", "kim", "--duration=2h")
	bed.Must(t, err)
	return strings.TrimSpace(string(token))
}

// watched is a browser that follows an upgrade.
type watched struct {
	cmd              *exec.Cmd
	ended            chan error
	statements, stop string
}

// open starts an upgrade in Chromium, and returns once its page is open.
func open(t *testing.T, url, token string) *watched {
	t.Helper()
	web, err := filepath.Abs("../../../web")
	bed.Must(t, err)
	dir := t.TempDir()
	w := &watched{statements: filepath.Join(dir, "statements"), stop: filepath.Join(dir, "stop")}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	w.cmd = exec.CommandContext(ctx, filepath.Join(web, "node_modules/.bin/playwright"), "test", "--config", "playwright.upgrade.config.ts")
	w.cmd.Dir, w.cmd.Stdout, w.cmd.Stderr = web, os.Stdout, os.Stderr
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	w.cmd.Env = append(os.Environ(), "REFIT_URL="+url, "REFIT_TOKEN="+token, "REFIT_VERSION="+bed.Newer, "REFIT_STATEMENTS="+w.statements, "REFIT_STOP="+w.stop)
	bed.Must(t, w.cmd.Start())
	w.ended = make(chan error, 1)
	go func() { w.ended <- w.cmd.Wait() }()
	started := make(chan error, 1)
	go func() {
		started <- bed.Until(ctx, "the upgrade to be started on the page", startTimeout, func(context.Context) error {
			_, err := os.Stat(w.statements)
			return err
		})
	}()
	select {
	case err := <-started:
		bed.Must(t, err)
	case err := <-w.ended:
		t.Fatalf("the browser has ended: %v", err)
	}
	return w
}

// close ends the browser and returns what the page has stated.
func (w *watched) close(t *testing.T) (out []statements) {
	t.Helper()
	bed.Must(t, os.WriteFile(w.stop, nil, 0o600))
	bed.Must(t, <-w.ended)
	file, err := os.Open(w.statements)
	bed.Must(t, err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var s statements
		bed.Must(t, json.Unmarshal(lines.Bytes(), &s))
		out = append(out, s)
	}
	return out
}
