//go:build e2e

package hosts

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/watch"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// turns are the control plane nodes in the order in which they were upgraded.
type turns struct {
	all    []turn
	failed error
	cancel context.CancelFunc
	done   chan struct{}
}

// turn is a control plane node, and whether it held the virtual IP when its upgrade started.
type turn struct {
	node string
	held bool
}

// watchTurns records the turns until they are checked.
func watchTurns(t *testing.T, s *bed.Site) *turns {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &turns{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		bed.Watch(ctx, s.Bed, bed.Operations, func() {}, func(_ watch.EventType, u *refitv1alpha1.ClusterUpgrade) {
			for _, name := range u.Status.Active {
				w.add(ctx, s, name)
			}
		})
	}()
	t.Cleanup(cancel)
	return w
}

func (w *turns) add(ctx context.Context, s *bed.Site, name string) {
	n, err := s.Node(name)
	if err != nil || n.Role() != cluster.RoleControlPlane || slices.ContainsFunc(w.all, func(t turn) bool { return t.node == name }) {
		return
	}
	held, err := n.HoldsVIP(ctx)
	if err != nil && w.failed == nil {
		w.failed = err
	}
	w.all = append(w.all, turn{node: name, held: held})
}

// check checks that the holder of the virtual IP was upgraded last.
func (w *turns) check(t *testing.T, figure string) {
	t.Helper()
	w.cancel()
	<-w.done
	bed.Must(t, w.failed)
	t.Logf("the control plane nodes in their order, and which held the virtual IP: %+v", w.all)
	holder := slices.IndexFunc(w.all, func(t turn) bool { return t.held })
	bed.Show(t, figure+"_holder_turn", float64(holder+1), "turn")
	if len(w.all) != 3 || holder != len(w.all)-1 {
		t.Error("the holder of the virtual IP was not upgraded last")
	}
}
