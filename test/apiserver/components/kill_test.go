//go:build apiserver

package components

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/test/apiserver"
	"github.com/refit-dev/refit/test/testbed/figure"
)

// lanes is the number of components that are upgraded in parallel.
const lanes = 4

// every returns 1 if everything is tested, otherwise the distance between the tested kills.
func every(distance int) int {
	if os.Getenv("REFIT_COMPONENTS_FULL") != "" {
		return 1
	}
	return distance
}

// A scenario is an order that processes are killed in.
type scenario struct {
	name    string
	prepare func(*made)
	want    refitv1alpha1.ComponentPhase
}

var scenarios = []scenario{
	{name: "upgrade", prepare: (*made).installOld, want: refitv1alpha1.ComponentSucceeded},
	{name: "install", prepare: func(*made) {}, want: refitv1alpha1.ComponentSucceeded},
	{name: "rollback", want: refitv1alpha1.ComponentRolledBack, prepare: func(m *made) {
		m.installOld()
		m.foreignPod()
		m.limitVerify()
	}},
}

// foreignPod creates a pod of the component that runs another image, so that its verification
// fails.
func (m *made) foreignPod() {
	m.t.Helper()
	must(m.t, m.client.Create(m.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.name, Name: "foreign", Labels: map[string]string{"app": m.name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "registry.test/other:1"}}},
	}))
}

// limitVerify lets a verification fail soon.
func (m *made) limitVerify() {
	m.options.Limit = func(step component.Step) time.Duration {
		if step.Kind == component.StepVerify {
			return 5 * time.Second
		}
		return step.Limit
	}
}

// TestKilledProcesses kills the process of an order before and after each of its writes, or at some
// of them. The next process continues, and the result is that without a kill.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	var kills atomic.Int64
	t.Run("scenarios", func(t *testing.T) {
		for _, s := range scenarios {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				b := newBed(t)
				clean, writes := b.play(s, &apiserver.Killer{})
				t.Logf("%d writes", writes)
				t.Run("lanes", func(t *testing.T) {
					for lane := range lanes {
						t.Run(fmt.Sprint(lane), func(t *testing.T) {
							t.Parallel()
							b := newBed(t)
							for n := lane * every(25); n < 2*writes; n += lanes * every(25) {
								k := &apiserver.Killer{At: n/2 + 1, After: n%2 == 1}
								got, _ := b.play(s, k)
								if !k.Dead() {
									continue // another run had more writes, such as what it waits for
								}
								kills.Add(1)
								if got != clean {
									t.Errorf("killed at write %d (after: %v): %s\nwant %s", k.At, k.After, got, clean)
								}
							}
						})
					}
				})
			})
		}
	})
	must(t, figure.Print("components_kills", float64(kills.Load()), "kills"))
}

// play runs an order whose first process is killed, and returns the end.
func (b *bed) play(s scenario, k *apiserver.Killer) (state string, writes int) {
	b.t.Helper()
	m := b.newMade()
	s.prepare(m)
	m.order(m.offer())
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	k.Die = cancel
	err := m.runIn(ctx, k.Config(m.config))
	if !k.Dead() {
		must(b.t, err)
	}
	u := m.ended(s.want)
	if u.Status.Frozen != nil {
		b.t.Errorf("killed at write %d (after: %v): the journal is frozen: %+v", k.At, k.After, u.Status)
	}
	return m.state(), k.Writes()
}
