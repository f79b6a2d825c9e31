//go:build e2e

package upgrade

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// notReady disconnects the worker that would be next while the first one is drained. It counts as
// unavailable, so no further node starts.
func notReady(s scene) {
	t, c := s.t, s.trio
	must(t, c.last.Partition())
	healed := false
	defer func() {
		if !healed {
			_ = c.last.Heal()
		}
	}()
	must(t, c.readiness(t.Context(), c.last, false))
	o := c.ask(t, "not-ready", workersOnly, waived("NodeNotReady", ""))
	o.does(t, c.last.Name())
	o.reaches(t, refitv1alpha1.PhaseStalled)
	c.explains(t, c.last, "NOT READY")
	c.untouched(t, c.first)
	healed = true
	must(t, c.last.Heal())
	must(t, c.readiness(t.Context(), c.last, true))
	c.ends(t, o)
}

// readiness waits until a node is Ready, or NotReady.
func (s *site) readiness(ctx context.Context, n *cluster.Node, wanted bool) error {
	return until(ctx, n.Name()+" to change its mind", checkTimeout, func(ctx context.Context) error {
		ctx, cancel := soon(ctx)
		defer cancel()
		found, err := s.Client.CoreV1().Nodes().Get(ctx, n.Name(), metav1.GetOptions{})
		if err == nil && cluster.NodeReady(*found) != wanted {
			err = errors.New("it has not")
		}
		return err
	})
}

// agentDead stops the agent of the next worker. The operation waits for that node by name and
// continues once the agent runs.
func agentDead(s scene) {
	t, c := s.t, s.trio
	_, err := c.first.Exec(t.Context(), "systemctl", "stop", bed.AgentUnit)
	must(t, err)
	o := c.ask(t, "agent-dead", only(c.first))
	o.does(t, c.first.Name())
	c.explains(t, c.first, "Agent")
	_, err = c.first.Exec(t.Context(), "systemctl", "start", bed.AgentUnit)
	must(t, err)
	o.waits(t, "the worker to be emptied", whole, atWork)
	c.ends(t, o)
}

// joinsAgain deletes the Node of the other worker while one is drained, and lets its kubelet
// register again: the Node has a new UID and must not count as done.
func joinsAgain(s scene) {
	t, c := s.t, s.trio
	c.budgetHolds(t)
	o := c.ask(t, "joins-again", workersOnly, neverWaived)
	o.does(t, "shop/never")
	other := c.first
	if c.atWork(t, o).Name() == other.Name() {
		other = c.last
	}
	before, err := c.Client.CoreV1().Nodes().Get(t.Context(), other.Name(), metav1.GetOptions{})
	must(t, err)
	must(t, c.Client.CoreV1().Nodes().Delete(t.Context(), other.Name(), metav1.DeleteOptions{}))
	o.waits(t, "one node less", whole, func(u *refitv1alpha1.ClusterUpgrade) bool { return u.Status.Nodes.Total == 1 })
	_, err = other.Exec(t.Context(), "systemctl", "restart", "kubelet")
	must(t, err)
	must(t, c.readiness(t.Context(), other, true))
	o.waits(t, "the node again", whole, func(u *refitv1alpha1.ClusterUpgrade) bool {
		return u.Status.Nodes.Total == 2 && u.Status.Nodes.Done == 0
	})
	after, err := c.Client.CoreV1().Nodes().Get(t.Context(), other.Name(), metav1.GetOptions{})
	must(t, err)
	if before.UID == after.UID {
		t.Error("the node has not joined again")
	}
	c.ends(t, o)
	c.budgetGone(t)
}

// apiAway freezes the only control plane node while a worker changes: the agent continues without
// an API, and the operation continues once the API is back.
func apiAway(s scene) {
	t, c := s.t, s.trio
	o := c.ask(t, "api-away", only(c.first))
	c.AwaitApplying(t, c.first)
	must(t, c.controlPlane.Freeze())
	time.Sleep(time.Minute) // the duration of the fault
	must(t, c.controlPlane.Thaw())
	o.reaches(t, refitv1alpha1.PhaseSucceeded)
	c.NoCordonLeft(t)
}
