//go:build apiserver

package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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

// TestTheScriptForPipelines runs examples/serve/ci.sh.
func TestTheScriptForPipelines(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the script needs %s: %v", tool, err)
		}
	}
	script, err := filepath.Abs("../../../examples/serve/ci.sh")
	must(t, err)
	c := apart(t)
	token := c.pipeline(t)
	s := c.serve(t, t.TempDir(), ready).current(t, token)
	run := func(id, to string) (code int, out string) {
		cmd := exec.CommandContext(t.Context(), script)
		cmd.Env = append(os.Environ(), "REFIT_URL="+s.url, "REFIT_TOKEN="+token, "REFIT_CA="+filepath.Join(s.directory, "tls.crt"),
			"REFIT_TO="+to, "REFIT_RUN="+id, "REFIT_TIMEOUT=60")
		content, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(content)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.end(t.Context(), "to-v1-36-3") }()
	if code, out := run("run-1", "v1.36.3"); code != 0 || !strings.Contains(out, "Started to-v1-36-3.") || !strings.Contains(out, "Succeeded") {
		t.Errorf("exit code %d: %s", code, out)
	}
	must(t, <-ended)
	if code, out := run("run-1", "v1.36.3"); code != 0 || !strings.Contains(out, "Started to-v1-36-3.") {
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

// end lets an upgrade succeed as soon as it exists.
func (c *cluster) end(ctx context.Context, name string) error {
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
	u.Status.Phase, u.Status.ObservedGeneration = refitv1alpha1.PhaseSucceeded, u.Generation
	u.Status.Conditions = []metav1.Condition{{
		Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: refitv1alpha1.ReasonSucceeded, LastTransitionTime: metav1.Now(),
	}}
	return c.Status().Update(ctx, u)
}
