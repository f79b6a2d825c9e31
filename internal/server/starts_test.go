package server_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/problem"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

const operationsPath = "/api/v1alpha1/operations"

// controllers are those of a cluster with Refit.
func controllers() *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "refit-system", Name: "refit-controller"}}
	d.Status.AvailableReplicas = 1
	return d
}

// planned checks an upgrade and returns the hash of its plan.
func (b *bed) planned(t *testing.T, cookie string, spec refitv1alpha1.ClusterUpgradeSpec) string {
	t.Helper()
	answer, body := b.send(t, request{method: http.MethodPost, path: checksPath, cookie: cookie, body: spec, header: waiting})
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", answer.StatusCode, body)
	}
	var check api.Check
	decode(t, body, &check)
	return check.Report.Plan.Hash
}

func starting(cookie, key, plan string, spec refitv1alpha1.ClusterUpgradeSpec) request {
	r := request{method: http.MethodPost, path: operationsPath, cookie: cookie, body: api.OperationStart{Spec: spec, Plan: plan}, header: http.Header{}}
	if key != "" {
		r.header.Set("Idempotency-Key", key)
	}
	return r
}

func TestAStartHappensOnce(t *testing.T) {
	b := newBed(t, node("cp-1"), controllers()).observing(ready).current(t)
	admin := b.admin(t)
	spec := to("v1.36.3")
	plan := b.planned(t, admin, spec)
	var all sync.WaitGroup
	var created, existed atomic.Int32
	for range 20 {
		all.Go(func() {
			answer, body := b.send(t, starting(admin, "run-1", plan, spec))
			switch answer.StatusCode {
			case http.StatusCreated:
				created.Add(1)
			case http.StatusOK:
				existed.Add(1)
			default:
				t.Errorf("%d %s", answer.StatusCode, body)
			}
			var out api.StartedOperation
			if decode(t, body, &out); out.Name != "to-v1-36-3" || !out.Approved || answer.Header.Get("Location") != operationsPath+"/to-v1-36-3" || answer.Header.Get("ETag") == "" {
				t.Errorf("the answer is %s", body)
			}
		})
	}
	all.Wait()
	if created.Load() != 1 || existed.Load() != 19 {
		t.Errorf("%d were created, %d existed", created.Load(), existed.Load())
	}
	var list refitv1alpha1.ClusterUpgradeList
	must(t, b.objects.List(t.Context(), &list))
	if len(list.Items) != 1 || list.Items[0].Spec.ApprovedPlan != plan {
		t.Errorf("the upgrades are %+v", list.Items)
	}

	other := to("v1.36.3")
	other.Rollback = refitv1alpha1.RollbackManual
	if answer, body := b.send(t, starting(admin, "run-1", plan, other)); answer.StatusCode != http.StatusUnprocessableEntity || problemOf(t, body).Code != problem.KeyReused {
		t.Errorf("the key for another body: %d %s", answer.StatusCode, body)
	}
	answer, body := b.send(t, starting(admin, "run-2", plan, spec))
	if p := problemOf(t, body); answer.StatusCode != http.StatusConflict || p.Code != problem.OperationActive || p.Operation != "to-v1-36-3" {
		t.Errorf("another key: %d %s", answer.StatusCode, body)
	}
	if answer, body := b.send(t, starting(admin, "", plan, spec)); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("no key: %d %s", answer.StatusCode, body)
	}
	if answer, body := b.send(t, starting(admin, "run-3", "guessed", spec)); answer.StatusCode != http.StatusUnprocessableEntity || problemOf(t, body).Errors[0].Pointer != "#/plan" {
		t.Errorf("no plan: %d %s", answer.StatusCode, body)
	}
	for key, want := range map[string]int{"run-1": 1, "run-2": 0, "to-v1-36-3": 0} {
		_, body := b.send(t, request{path: operationsPath + "?idempotencyKey=" + key, cookie: admin})
		var list api.OperationList
		if decode(t, body, &list); len(list.Operations) != want || list.Source != api.API {
			t.Errorf("started with %s: %s", key, body)
		}
	}
	entries := get[api.AuditList](t, b, "/api/v1alpha1/audit", "approver")
	started := func(e api.AuditEntry) bool {
		return e.Action == "StartOperation" && e.Object == "to-v1-36-3" && e.Detail == plan
	}
	if !slices.ContainsFunc(entries.Entries, started) {
		t.Errorf("the audit log is %+v", entries)
	}
}

func TestWhatPreventsAStart(t *testing.T) {
	agentless := func() *cluster.Snapshot { return clustertest.HA("v1.35.4", 3, 2, clustertest.Released("v1.36.3")) }
	done := func() *cluster.Snapshot {
		return clustertest.HA("v1.36.3", 3, 2, clustertest.Agents(), clustertest.Released("v1.36.3"))
	}
	for code, c := range map[string]struct {
		later   func() *cluster.Snapshot // at the start
		objects []client.Object
		check   bool // the answer has a new check
	}{
		problem.PlanChanged:   {ready, []client.Object{controllers()}, true},
		problem.Blocked:       {agentless, []client.Object{controllers()}, true},
		problem.NoControllers: {ready, nil, false},
		problem.UpToDate:      {done, []client.Object{controllers()}, false},
	} {
		t.Run(code, func(t *testing.T) {
			b := newBed(t, append(c.objects, node("cp-1"))...).observing(ready)
			if code == problem.Blocked {
				b.observing(agentless)
			}
			admin := b.current(t).admin(t)
			spec := to("v1.36.3")
			plan := b.planned(t, admin, spec)
			b.observing(c.later)
			if code == problem.PlanChanged {
				plan = "sha256:" + strings.Repeat("0", 64)
			}
			answer, body := b.send(t, starting(admin, "run-1", plan, spec))
			p := problemOf(t, body)
			if answer.StatusCode != http.StatusConflict || p.Code != code || p.Remedy == "" && code != problem.UpToDate || (p.Check.ID != "") != c.check {
				t.Fatalf("%d %s", answer.StatusCode, body)
			}
			var list refitv1alpha1.ClusterUpgradeList
			must(t, b.objects.List(t.Context(), &list))
			if len(list.Items) > 0 {
				t.Error("the upgrade was started")
			}
			if !c.check {
				return
			}
			if answer, _ := b.send(t, request{path: checksPath + "/" + p.Check.ID, cookie: admin}); answer.StatusCode != http.StatusOK || p.Check.Report.Plan.Hash == "" {
				t.Errorf("the check is %+v", p.Check)
			}
		})
	}
}

func TestAChangeNeedsTheETagOfWhatWasRead(t *testing.T) {
	u := upgrade()
	u.Generation = 1
	u.Spec = to("v1.36.3")
	u.CreationTimestamp = metav1.NewTime(time.Now())
	b := newBed(t, u, node("cp-1")).current(t)
	admin := b.admin(t)
	path := operationsPath + "/op"
	read, body := b.send(t, request{path: path, cookie: admin})
	var shown api.OperationAnswer
	decode(t, body, &shown)
	etag := read.Header.Get("ETag")
	if etag == "" || shown.Spec.Target.Kubernetes != "v1.36.3" {
		t.Fatalf("%q %s", etag, body)
	}
	change := func(etag, patch string) (*http.Response, []byte) {
		r := request{method: http.MethodPatch, path: path, cookie: admin, raw: patch, header: http.Header{"Content-Type": {"application/merge-patch+json"}}}
		if etag != "" {
			r.header.Set("If-Match", etag)
		}
		return b.send(t, r)
	}
	// In order: the last change makes all earlier ETags old.
	for _, c := range []struct {
		situation, etag, patch string
		status                 int
	}{
		{"no ETag", "", `{}`, http.StatusPreconditionRequired},
		{"another ETag", `"u.7"`, `{"rollback":"Manual"}`, http.StatusPreconditionFailed},
		{"a field of another kind", etag, `{"target":{"kubernetes":"v1.36.4"}}`, http.StatusUnprocessableEntity},
		{"null", etag, `{"waivers":null}`, http.StatusUnprocessableEntity},
		{"a waiver without reason", etag, `{"waivers":[{"check":"X"}]}`, http.StatusUnprocessableEntity},
		{"what it has already", etag, `{"rollback":"Auto"}`, http.StatusOK},
		{"a waiver for the upgrade", etag, `{"waivers":[{"check":"BudgetNeverAllows","reason":"scaled down"}],"rollback":"Manual"}`, http.StatusOK},
	} {
		t.Run(c.situation, func(t *testing.T) {
			answer, body := change(c.etag, c.patch)
			if answer.StatusCode != c.status {
				t.Fatalf("%d %s", answer.StatusCode, body)
			}
			if c.status == http.StatusOK && answer.Header.Get("ETag") == "" {
				t.Error("there is no ETag")
			}
		})
	}
	var changed refitv1alpha1.ClusterUpgrade
	must(t, b.objects.Get(t.Context(), client.ObjectKey{Name: "op"}, &changed))
	if len(changed.Spec.Waivers) != 1 || changed.Spec.Rollback != refitv1alpha1.RollbackManual || changed.Spec.Target.Kubernetes != "v1.36.3" {
		t.Errorf("the spec is %+v", changed.Spec)
	}
}
