package operations_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
)

var leaseKey = client.ObjectKey{Namespace: "refit-system", Name: "refit-controller"}

func mirrorOf(objects client.WithWatch, changed func(operations.Changes)) *operations.Mirror {
	m := operations.NewMirror(&operations.Cluster{Client: objects, Name: "prod", Now: time.Now, Controller: leaseKey}, operations.NewCopy())
	m.Changed = changed
	return m
}

func link(m *operations.Mirror) (out operations.APILink) {
	m.Read(func(c *operations.Copy) { out = c.API })
	return out
}

func TestMirrorKeepsWhatReportsNeed(t *testing.T) {
	holder, now := "cp-1_1", metav1.NowMicro()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1", Labels: map[string]string{"zone": "a"}}}
	node.Status.Images = []corev1.ContainerImage{{Names: []string{"large"}}}
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "op", Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"}}}
	objects := operationstest.NewClient(t, node, u, &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}},
		&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: leaseKey.Namespace, Name: leaseKey.Name}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &now}})
	synctest.Test(t, func(t *testing.T) {
		var changes []operations.Changes
		m := mirrorOf(objects, func(c operations.Changes) { changes = append(changes, c) })
		go m.Run(t.Context())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		m.Read(func(c *operations.Copy) {
			if len(c.Operations) != 1 || c.Operations["op"].Annotations != nil || c.Nodes["worker-1"].Labels["zone"] != "a" || c.Orders["worker-1"] == nil {
				t.Errorf("the copy is %+v", c)
			}
			if !c.API.Current || !c.API.Listed {
				t.Errorf("the link is %+v", c.API)
			}
		})
		if len(changes) == 0 || !changes[0].Nodes["worker-1"] {
			t.Fatalf("changes are %+v", changes)
		}
		changes = nil
		succeed(t, objects, "op")
		time.Sleep(time.Second)
		synctest.Wait()
		if len(changes) != 1 || !changes[0].Operations["op"] || len(changes[0].Nodes) != 0 {
			t.Errorf("changes after a status are %+v", changes)
		}
	})
}

// A frozen API server is noticed by the probe. The copy stays, its age is that of the last answer,
// and it is current only after everything was listed again.
func TestMirrorReportsAFrozenAPIServer(t *testing.T) {
	objects := operationstest.NewClient(t, &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "op"}})
	synctest.Test(t, func(t *testing.T) {
		f := freezable(objects)
		m := mirrorOf(f, nil)
		go m.Run(t.Context())
		time.Sleep(2 * time.Second)
		f.now.Store(true)
		frozen := time.Now()
		time.Sleep(3 * time.Second)
		down := link(m)
		if down.Reachable() || down.Current || down.CurrentAt.After(frozen) || down.Error == "" {
			t.Errorf("3 s after the freeze: %+v", down)
		}
		if f.redials.Load() == 0 {
			t.Error("it did not redial")
		}
		time.Sleep(10 * time.Second)
		m.Read(func(c *operations.Copy) {
			if len(c.Operations) != 1 || !c.API.CurrentAt.Equal(down.CurrentAt) {
				t.Errorf("during the outage: %+v", c)
			}
		})
		f.now.Store(false)
		time.Sleep(5 * time.Second)
		if up := link(m); !up.Reachable() || !up.Current || !up.CurrentAt.After(down.CurrentAt) {
			t.Errorf("after the outage: %+v", up)
		}
	})
}

func TestUnanswered(t *testing.T) {
	if !operations.Unanswered(errors.New("connection refused")) || operations.Unanswered(nil) {
		t.Error("a refused connection is no answer, and no error is one")
	}
}
