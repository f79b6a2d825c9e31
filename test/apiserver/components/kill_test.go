//go:build apiserver

package components

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/test/apiserver"
	"github.com/refit-dev/refit/test/testbed/figure"
)

// lanes is the number of components that are upgraded in parallel.
const lanes = 2

// shortKills is the number of kills of a scenario unless everything is tested.
const shortKills = 3

// distance returns the distance between the tested places: two of each write. It is odd, so that
// both places of a write are tested. REFIT_COMPONENTS_DISTANCE is for a slow machine.
func distance(t *testing.T, places int) int {
	t.Helper()
	if os.Getenv("REFIT_COMPONENTS_FULL") == "" {
		return places/shortKills | 1
	}
	text := os.Getenv("REFIT_COMPONENTS_DISTANCE")
	if text == "" {
		return 1
	}
	every, err := strconv.Atoi(text)
	must(t, err)
	return every
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
	{name: "removal", want: refitv1alpha1.ComponentSucceeded, prepare: func(m *made) {
		m.installOld()
		m.drop()
	}},
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
			return 2 * time.Second
		}
		return step.Limit
	}
}

// TestKilledProcesses kills the process of an order before and after each of its writes, or at some
// of them. The next process continues, and the result is that without a kill.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	var kills, frozen, different atomic.Int64
	t.Run("scenarios", func(t *testing.T) {
		for _, s := range scenarios {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				clean := newBed(t).play(s, &apiserver.Killer{})
				places := 2 * clean.writes
				every := distance(t, places)
				t.Run("lanes", func(t *testing.T) {
					for lane := range lanes {
						t.Run(fmt.Sprint(lane), func(t *testing.T) {
							t.Parallel()
							b := newBed(t)
							for n := every/2 + lane*every; n < places; n += lanes * every {
								k := &apiserver.Killer{At: n/2 + 1, After: n%2 == 1}
								begin := time.Now()
								got := b.play(s, k)
								t.Logf("%s: place %d of %d took %.1f s", s.name, n+1, places, time.Since(begin).Seconds())
								if !k.Dead() {
									continue // the run without a kill had more writes, such as what it waits for
								}
								kills.Add(1)
								if got.frozen {
									frozen.Add(1)
									t.Errorf("killed at write %d (after: %v): it is left frozen", k.At, k.After)
								}
								if got.state != clean.state {
									different.Add(1)
									t.Errorf("killed at write %d (after: %v): %s\nwant %s", k.At, k.After, got.state, clean.state)
								}
							}
						})
					}
				})
				t.Logf("%d places, distance %d", places, every)
			})
		}
	})
	must(t, figure.Print("components_kills", float64(kills.Load()), "kills"))
	must(t, figure.Print("components_killed_left_frozen", float64(frozen.Load()), "components"))
	must(t, figure.Print("components_killed_states_that_differ", float64(different.Load()), "states"))
}

// An end is what an order leaves.
type end struct {
	state  string
	frozen bool
	writes int // of the first process
}

// play runs an order whose first process is killed, and returns the end.
func (b *bed) play(s scenario, k *apiserver.Killer) end {
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
	found := end{state: m.state(), frozen: u.Status.Frozen != nil || m.freezes() != "", writes: k.Writes()}
	m.remove()
	return found
}

// remove deletes what would slow down the next orders: each Component reads all ClusterReleases,
// and each CRD costs the API server time.
func (m *made) remove() {
	m.t.Helper()
	named := metav1.ObjectMeta{Name: m.name}
	for _, object := range []client.Object{
		m.release, &refitv1alpha1.ComponentUpgrade{ObjectMeta: named}, &refitv1alpha1.ClusterUpgrade{ObjectMeta: named},
		&refitv1alpha1.Component{ObjectMeta: named},
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "things." + m.name + ".test"}},
	} {
		must(m.t, m.client.Delete(m.t.Context(), object))
	}
}
