//go:build apiserver

package controller

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/controller"
	"github.com/refit-dev/refit/test/apiserver"
)

// TestAnIdleControllerReadsNothing counts the requests of a controller in a cluster whose
// operations have ended, one of them with a ClusterRelease that was deleted since. The controller
// must only watch, and renew its Lease.
//
// REFIT_IDLE is how long it counts. Its watches end after five to ten minutes, so that a longer
// time shows what an hour costs.
func TestAnIdleControllerReadsNothing(t *testing.T) {
	counting := 25 * time.Second
	if text := os.Getenv("REFIT_IDLE"); text != "" {
		var err error
		counting, err = time.ParseDuration(text)
		must(t, err)
	}
	b := newBedOn(t, apiserver.Shared(t, apiserver.Options{Audit: true}), controlPlaneDone)
	stop := b.controllers()
	b.upgrade(op, func(o *refitv1alpha1.ClusterUpgrade) {
		o.Spec.Target = refitv1alpha1.Target{Release: "kubernetes-" + to}
	})
	b.until(op, "succeeds", phase(refitv1alpha1.PhaseSucceeded))
	stop()
	release := &refitv1alpha1.ClusterRelease{}
	must(t, b.client.Get(t.Context(), types.NamespacedName{Name: "kubernetes-" + to}, release))
	must(t, b.client.Delete(t.Context(), release))
	user := "system:serviceaccount:" + controller.Namespace + ":refit-controller"
	before := len(b.AuditOf(t, user))
	stop = b.controllers()
	b.wait("the controllers watch", func() (bool, string) {
		got := count(b.AuditOf(t, user)[before:])
		return got["watch"] >= 5, fmt.Sprint(got)
	})
	started := time.Now()
	time.Sleep(counting)
	stop()
	made := b.AuditOf(t, user)[before:]
	hour := float64(time.Hour) / float64(time.Since(started))
	for _, verb := range []string{"watch", "lease", "list", "get", "write"} {
		n := count(made)[verb]
		fmt.Printf("figure idle_controller_%s %d requests\n", verb, n)
		t.Logf("%s: %d requests in %s, %.0f per hour", verb, n, counting, float64(n)*hour)
	}
	for _, e := range made {
		if kind := kindOf(e); kind == "list" && !slices.ContainsFunc(informed, func(r string) bool { return strings.Contains(e.URI+"?", "/"+r+"?") }) {
			t.Errorf("%s %s: an idle controller reads the cluster", e.Verb, e.URI)
		}
	}
}

// informed are the resources that a controller lists when it starts.
var informed = []string{
	"nodes", "clusterupgrades", "nodeupgrades", "nodereports", "clusterreleases", "backupstores", "etcdbackups", "namespaces/refit-trial/pods",
}

func count(events []apiserver.Event) map[string]int {
	out := map[string]int{}
	for _, e := range events {
		out[kindOf(e)]++
	}
	return out
}

func kindOf(e apiserver.Event) string {
	switch {
	case strings.Contains(e.URI, "/leases/"):
		return "lease"
	case e.Verb == "watch" || e.Verb == "list" || e.Verb == "get":
		return e.Verb
	}
	return "write"
}
