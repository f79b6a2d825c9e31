//go:build apiserver

package serve

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/server"
	"github.com/refit-dev/refit/internal/server/api"
	snapshot "github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

// ready lets checks read a cluster that nothing prevents from being upgraded.
func ready(o *server.Options) {
	o.Observe = func(context.Context, *rest.Config, func(string)) (*snapshot.Snapshot, error) {
		return clustertest.HA("v1.35.4", 3, 2, clustertest.Agents(), clustertest.Released("v1.36.3")), nil
	}
}

// pipeline returns a token that may create and approve upgrades, and lets controllers lead.
func (c *cluster) pipeline(t *testing.T) string {
	t.Helper()
	token := c.token(t, "pipeline", "refit-operator")
	must(t, client.IgnoreAlreadyExists(c.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "serve-pipeline-approver"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "refit-approver"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "pipeline", Namespace: namespace}},
	})))
	holder, now := "cp-1", metav1.NewMicroTime(time.Now().Add(time.Hour))
	must(t, client.IgnoreAlreadyExists(c.Create(t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "refit-controller"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &now},
	})))
	return token
}

func (s *serving) planned(t *testing.T, token, spec string) string {
	t.Helper()
	answer, body := s.send(t, request{
		method: http.MethodPost, path: prefix + "checks", token: token, body: spec, header: http.Header{"Prefer": {"wait=20"}},
	})
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", answer.StatusCode, body)
	}
	validate(t, compile(t)("#/components/schemas/Check"), body)
	var check api.Check
	must(t, json.Unmarshal(body, &check))
	return check.Report.Plan.Hash
}

// TestParallelStartsMakeOneOperation sends 100 requests with the same key at the same time.
func TestParallelStartsMakeOneOperation(t *testing.T) {
	c := apart(t)
	token := c.pipeline(t)
	s := c.serve(t, t.TempDir(), ready).current(t, token)
	const spec = `{"target":{"kubernetes":"v1.36.3"}}`
	body := fmt.Sprintf(`{"spec":%s,"plan":%q}`, spec, s.planned(t, token, spec))
	schema := compile(t)("#/components/schemas/StartedOperation")
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for range 100 {
		all.Go(func() {
			answer, content := s.send(t, request{
				method: http.MethodPost, path: prefix + "operations", token: token, body: body, header: http.Header{"Idempotency-Key": {"run-1"}},
			})
			mu.Lock()
			defer mu.Unlock()
			statuses[answer.StatusCode]++
			if answer.StatusCode < http.StatusBadRequest {
				validate(t, schema, content)
			}
		})
	}
	all.Wait()
	var list refitv1alpha1.ClusterUpgradeList
	must(t, c.List(t.Context(), &list))
	if len(list.Items) != 1 || list.Items[0].Spec.ApprovedPlan == "" || statuses[http.StatusCreated] != 1 || statuses[http.StatusOK] != 99 {
		t.Errorf("%d upgrades, statuses %v", len(list.Items), statuses)
	}
}

// TestParallelStartsOfOneTarget sends starts with the same target and different keys at the same
// time. One of them starts an upgrade; the others get its name.
func TestParallelStartsOfOneTarget(t *testing.T) {
	c := apart(t)
	token := c.pipeline(t)
	s := c.serve(t, t.TempDir(), ready).current(t, token)
	const spec = `{"target":{"kubernetes":"v1.36.3"}}`
	body := fmt.Sprintf(`{"spec":%s,"plan":%q}`, spec, s.planned(t, token, spec))
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[string]int{}
	for i := range 30 {
		all.Go(func() {
			answer, content := s.send(t, request{
				method: http.MethodPost, path: prefix + "operations", token: token, body: body, header: http.Header{"Idempotency-Key": {fmt.Sprintf("run-%d", i)}},
			})
			result := strconv.Itoa(answer.StatusCode)
			if answer.StatusCode >= http.StatusBadRequest {
				var p api.Problem
				if err := json.Unmarshal(content, &p); err != nil {
					t.Error(err)
				}
				result += " " + p.Code + " " + p.Operation
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[result]++
		})
	}
	all.Wait()
	var list refitv1alpha1.ClusterUpgradeList
	must(t, c.List(t.Context(), &list))
	if len(list.Items) != 1 || statuses["201"] != 1 || statuses["409 operation-active to-v1-36-3"] != 29 {
		t.Errorf("%d upgrades, answers %v", len(list.Items), statuses)
	}
}

// pipeline is a run of examples/serve/ci.sh.
type pipeline struct {
	s      *serving
	token  string
	script string
}

// newPipeline returns a pipeline. The test is skipped without the tools of the script.
func newPipeline(t *testing.T, s *serving, token string) *pipeline {
	t.Helper()
	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the script needs %s: %v", tool, err)
		}
	}
	script, err := filepath.Abs("../../../examples/serve/ci.sh")
	must(t, err)
	return &pipeline{s, token, script}
}

// command is the script in a process group of its own.
func (p *pipeline) command(ctx context.Context, id, to, timeout string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), "REFIT_URL="+p.s.url, "REFIT_TOKEN="+p.token, "REFIT_CA="+filepath.Join(p.s.directory, "tls.crt"),
		"REFIT_TO="+to, "REFIT_RUN="+id, "REFIT_TIMEOUT="+timeout, "REFIT_RETRY=2")
	return cmd
}

// run runs the script to its end.
func (p *pipeline) run(t *testing.T, id, to, timeout string) (code int, out string) {
	t.Helper()
	cmd := p.command(t.Context(), id, to, timeout)
	content, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(content)
}

// TestAPipelineThatWasKilledFollowsItsUpgrade kills the script once the upgrade has started, and
// changes the cluster, so that a check finds nothing to upgrade. The script follows the upgrade
// that it has started, and reports how that ends.
func TestAPipelineThatWasKilledFollowsItsUpgrade(t *testing.T) {
	c := apart(t)
	token := c.pipeline(t)
	var upgraded atomic.Bool
	s := c.serve(t, t.TempDir(), func(o *server.Options) {
		o.Observe = func(context.Context, *rest.Config, func(string)) (*snapshot.Snapshot, error) {
			version := "v1.35.4"
			if upgraded.Load() {
				version = "v1.36.3"
			}
			return clustertest.HA(version, 3, 2, clustertest.Agents(), clustertest.Released("v1.36.3")), nil
		}
	}).current(t, token)
	p := newPipeline(t, s, token)
	first := p.command(t.Context(), "run-1", "v1.36.3", "60")
	must(t, first.Start())
	u := &refitv1alpha1.ClusterUpgrade{}
	for end := time.Now().Add(wait); c.Get(t.Context(), client.ObjectKey{Name: "to-v1-36-3"}, u) != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the script does not start the upgrade")
		}
	}
	must(t, syscall.Kill(-first.Process.Pid, syscall.SIGKILL))
	_ = first.Wait() // it was killed
	upgraded.Store(true)
	if code, out := p.run(t, "run-1", "v1.36.3", "2"); code != 4 || !strings.Contains(out, "Following to-v1-36-3") {
		t.Errorf("while the upgrade runs: exit code %d: %s", code, out)
	}
	c.Stop(t)
	if code, out := p.run(t, "run-1", "v1.36.3", "2"); code != 1 || !strings.Contains(out, "api-unreachable") {
		t.Errorf("while the API server is down: exit code %d: %s", code, out)
	}
	c.Restart(t)
	s.current(t, token)
	second := make(chan string, 1)
	go func() {
		content, err := p.command(t.Context(), "run-1", "v1.36.3", "60").CombinedOutput()
		second <- fmt.Sprintf("%v: %s", err, content)
	}()
	must(t, c.end(t.Context(), "to-v1-36-3", refitv1alpha1.PhaseAborted))
	if out := <-second; !strings.HasPrefix(out, "exit status 1: Following to-v1-36-3") || !strings.Contains(out, "Aborted") {
		t.Errorf("an upgrade that was aborted: %s", out)
	}
	var list refitv1alpha1.ClusterUpgradeList
	if must(t, c.List(t.Context(), &list)); len(list.Items) != 1 {
		t.Errorf("there are %d upgrades", len(list.Items))
	}
	other := c.token(t, "other", "refit-operator")
	if answer, body := s.send(t, request{path: prefix + "operations?idempotencyKey=run-1", token: other}); answer.StatusCode != http.StatusOK || !strings.Contains(string(body), `"operations":[]`) {
		t.Errorf("the key of another user: %d %s", answer.StatusCode, body)
	}
	s.stop()
	if code, out := p.run(t, "run-1", "v1.36.3", "1"); code != 2 {
		t.Errorf("without a server: exit code %d: %s", code, out)
	}
}

// TestAPipelineWaitsOutAnOutage answers the script as a server does during outages: of the API
// server, of its own, and before it has read the upgrade.
func TestAPipelineWaitsOutAnOutage(t *testing.T) {
	unreachable := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"code":"api-unreachable","title":"Service Unavailable","detail":"The API server is unreachable."}`)
	}
	var requests atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+prefix+"operations", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"operations":[{"name":"op"}]}`) })
	mux.HandleFunc("GET "+prefix+"operations/op", func(w http.ResponseWriter, _ *http.Request) {
		switch requests.Add(1) {
		case 1:
			unreachable(w)
		case 2:
			w.WriteHeader(http.StatusNotFound)
		case 3:
			panic(http.ErrAbortHandler) // a connection that ends
		default:
			fmt.Fprint(w, `{"operation":{"phase":"Succeeded","ended":true,"nodes":{"done":5,"total":5}}}`)
		}
	})
	answering := httptest.NewTLSServer(mux)
	t.Cleanup(answering.Close)
	s := &serving{url: answering.URL, directory: t.TempDir()}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: answering.Certificate().Raw})
	must(t, os.WriteFile(filepath.Join(s.directory, "tls.crt"), ca, 0o600))
	code, out := newPipeline(t, s, "token").run(t, "run-1", "v1.36.3", "60")
	if code != 0 || !strings.Contains(out, "The API server is unreachable.") || !strings.HasSuffix(out, "Succeeded:  (5 of 5 nodes)\n") || requests.Load() != 4 {
		t.Errorf("exit code %d after %d requests: %s", code, requests.Load(), out)
	}
}

// TestTheScriptForPipelines runs examples/serve/ci.sh.
func TestTheScriptForPipelines(t *testing.T) {
	c := apart(t)
	token := c.pipeline(t)
	s := c.serve(t, t.TempDir(), ready).current(t, token)
	p := newPipeline(t, s, token)
	run := func(id, to string) (code int, out string) { return p.run(t, id, to, "60") }
	ended := make(chan error, 1)
	go func() { ended <- c.end(t.Context(), "to-v1-36-3", refitv1alpha1.PhaseSucceeded) }()
	if code, out := run("run-1", "v1.36.3"); code != 0 || !strings.Contains(out, "Started to-v1-36-3.") || !strings.Contains(out, "Succeeded") {
		t.Errorf("exit code %d: %s", code, out)
	}
	must(t, <-ended)
	if code, out := run("run-1", "v1.36.3"); code != 0 || !strings.Contains(out, "Following to-v1-36-3") {
		t.Errorf("the same run again: exit code %d: %s", code, out)
	}
	if code, out := run("run-2", "v1.34.1"); code != 1 || !strings.Contains(out, "#/target") {
		t.Errorf("a downgrade: exit code %d: %s", code, out)
	}
	if code, out := run("run-3", "v1.35.4"); code != 0 || out != "Nothing to upgrade.\n" {
		t.Errorf("what the cluster has: exit code %d: %s", code, out)
	}
	var list refitv1alpha1.ClusterUpgradeList
	must(t, c.List(t.Context(), &list))
	if len(list.Items) != 1 {
		t.Errorf("there are %d upgrades", len(list.Items))
	}
}

// end ends an upgrade as soon as it exists.
func (c *cluster) end(ctx context.Context, name string, phase refitv1alpha1.Phase) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	u := &refitv1alpha1.ClusterUpgrade{}
	for c.Get(ctx, client.ObjectKey{Name: name}, u) != nil {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	u.Status.Phase, u.Status.ObservedGeneration = phase, u.Generation
	ready := metav1.Condition{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: refitv1alpha1.ReasonSucceeded, LastTransitionTime: metav1.Now()}
	if phase != refitv1alpha1.PhaseSucceeded {
		ready.Status, ready.Reason = metav1.ConditionFalse, refitv1alpha1.ReasonAborted
	}
	u.Status.Conditions = []metav1.Condition{ready}
	return c.Status().Update(ctx, u)
}
