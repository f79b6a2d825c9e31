//go:build e2e

package upgrade

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
)

// idleVariable sets how long the requests of an idle controller are counted.
const idleVariable = "REFIT_UPGRADE_IDLE"

// TestUpgradeAftermath upgrades a cluster whose etcd was restored, whose Refit objects were
// deleted, and one of whose hosts does not come back. Afterwards, the controller has to be idle.
func TestUpgradeAftermath(t *testing.T) {
	c := newTrio(t, "upafter")
	play(t, c, []chapter{
		{"the control plane is upgraded", controlPlaneFirst},
		{"etcd is restored from before an operation", etcdRestored},
		{"every object of Refit was deleted", objectsDeleted},
		{"a host does not come back", hostLost},
		{"the controller is idle", controllerIdle},
	})
	c.isAt(t, c.r)
}

// controlPlaneFirst upgrades the control plane, and aborts once the workers have prefetched: the
// new kube-proxy needs its image on them.
func controlPlaneFirst(s scene) {
	t, c := s.t, s.trio
	c.budgetHolds(t)
	o := c.ask(t, "control-plane", neverWaived)
	o.does(t, "shop/never")
	c.ends(t, o)
	c.budgetGone(t)
}

// etcdRestored backs etcd up, lets an operation order the first worker, and restores etcd: the
// hosts then remember orders that the cluster does not know.
func etcdRestored(s scene) {
	t, c := s.t, s.trio
	must(t, c.WaitReady(t.Context(), recovery)) // no rollout is in the backup
	must(t, c.BackUpEtcd(t.Context(), c.controlPlane))
	c.budgetHolds(t)
	before := c.ask(t, "before", only(c.first), neverWaived)
	before.does(t, "shop/never")
	must(t, c.RestoreEtcd(t.Context(), c.controlPlane))
	must(t, c.WaitRecovered(t.Context(), recovery))
	c.NoCordonLeft(t)
	after := c.ask(t, "after", only(c.first))
	after.reaches(t, refitv1alpha1.PhaseSucceeded)
	must(t, c.NodeAt(t.Context(), c.first, newer))
	c.NoCordonLeft(t)
}

// objectsDeleted deletes what the next operation would continue from.
func objectsDeleted(s scene) {
	t, c := s.t, s.trio
	for _, kind := range []string{"clusterupgrades", "nodeupgrades", "nodereports"} {
		_, err := c.Kubectl(t.Context(), nil, "delete", kind, "--all", "--timeout=2m")
		must(t, err)
	}
	c.budgetHolds(t)
	o := c.ask(t, "deleted", neverWaived)
	o.does(t, "shop/never")
	c.ends(t, o)
	c.budgetGone(t)
}

// hostLost cuts the power of the last worker while it changes. The operation reports it with a
// remedy, and continues once the user has abandoned the host. A host that comes back stays
// cordoned, and the next operation upgrades it.
func hostLost(s scene) {
	t, c := s.t, s.trio
	o := c.ask(t, "lost")
	c.AwaitStep(t, c.last, "check-host") // the steps after it take seconds
	must(t, c.last.Kill(t.Context()))
	o.reaches(t, refitv1alpha1.PhaseStalled)
	c.explains(t, c.last, "refit abandon "+c.last.Name())
	c.RunRefit(t, "abandon", c.last.Name(), o.name, "--yes")
	o.reaches(t, refitv1alpha1.PhaseSucceeded)
	must(t, c.last.Start(t.Context()))
	must(t, c.readiness(t.Context(), c.last, true))
	cordoned, err := c.Kubectl(t.Context(), nil, "get", "node", c.last.Name(), "--output=jsonpath={.spec.unschedulable}")
	must(t, err)
	if string(cordoned) != "true" {
		t.Errorf("%s takes pods although its host may be partly changed", c.last.Name())
	}
	_, err = c.Kubectl(t.Context(), nil, "uncordon", c.last.Name())
	must(t, err)
	again := c.ask(t, "found-again", only(c.last))
	again.reaches(t, refitv1alpha1.PhaseSucceeded)
	c.NoCordonLeft(t)
}

// controllerIdle counts the requests of the controllers while there is nothing to do.
func controllerIdle(s scene) {
	t, c := s.t, s.trio
	const user = "system:serviceaccount:refit-system:refit-controller"
	must(t, c.Audit(t.Context(), fmt.Sprintf("users: [%q]", user)))
	must(t, c.WaitRecovered(t.Context(), recovery))
	must(t, c.settled(t.Context()))
	started := time.Now()
	time.Sleep(bed.Duration(t, idleVariable, 12*time.Minute))
	events, err := c.Audited(t.Context(), func(e *bed.AuditEvent) bool { return e.RequestReceivedTimestamp.After(started) })
	must(t, err)
	made := map[string]int{}
	seen := map[types.UID]bool{}
	for _, e := range events {
		if seen[e.AuditID] {
			continue
		}
		seen[e.AuditID] = true
		switch {
		case strings.Contains(e.RequestURI, "/leases/"):
			made["lease"]++
		case e.Verb == "watch":
			made["watch"]++
		default:
			made["other"]++
			t.Errorf("an idle controller sent: %s %s", e.Verb, e.RequestURI)
		}
	}
	for _, kind := range []string{"lease", "watch", "other"} {
		show(t, "upgrade_idle_"+kind, float64(made[kind]), "requests")
	}
}

// settled waits until a controller leads and has started its watches after the API's restart.
func (s *site) settled(ctx context.Context) error {
	if err := until(ctx, "a controller to lead", recovery, func(ctx context.Context) error {
		_, err := s.leader(ctx)
		return err
	}); err != nil {
		return err
	}
	time.Sleep(time.Minute) // watches start again with a backoff
	return nil
}
