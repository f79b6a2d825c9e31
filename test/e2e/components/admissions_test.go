//go:build e2e

package components

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/refit-dev/refit/test/e2e/bed"
)

// admissions creates an object ten times a second, as dry runs, and records the results.
type admissions struct {
	mu      sync.Mutex
	results []admission
	stop    func()
}

type admission struct {
	at  time.Time
	err error
}

const admissionInterval = 100 * time.Millisecond

// admitted returns an object in the namespace default that only dry runs create.
func admitted(apiVersion, kind string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": "admitted", "namespace": "default"}, "spec": spec,
	}}
}

// thing is an object that the freeze of the made chart denies.
var thing = admitted("made.test/v1", "Thing", map[string]any{"size": int64(1)})

// admit starts to create an object as the user of a client.
func admit(t *testing.T, client dynamic.Interface, object *unstructured.Unstructured) *admissions {
	t.Helper()
	a := &admissions{}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	running.Go(func() {
		for tick := time.NewTicker(admissionInterval); ctx.Err() == nil; {
			select {
			case <-ctx.Done():
			case <-tick.C:
				running.Go(func() {
					started := time.Now()
					short, done := bed.Soon(ctx)
					defer done()
					_, err := client.Resource(resource).Namespace(object.GetNamespace()).Create(short, object.DeepCopy(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
					a.mu.Lock()
					defer a.mu.Unlock()
					a.results = append(a.results, admission{started, err})
				})
			}
		}
	})
	a.stop = func() { cancel(); running.Wait() }
	t.Cleanup(a.stop)
	return a
}

// between returns how many admissions began in a period, and those that failed.
func (a *admissions) between(from, to time.Time) (all int, failed []admission) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, result := range a.results {
		if result.at.Before(from) || result.at.After(to) {
			continue
		}
		all++
		if result.err != nil {
			failed = append(failed, result)
		}
	}
	return all, failed
}

// admitThings creates objects that the freeze of the made chart denies.
func (s *site) admitThings(t *testing.T) *admissions {
	t.Helper()
	return admit(t, s.Objects, thing)
}

// admitSets creates objects that the webhooks of LeaderWorkerSet admit.
func (s *site) admitSets(t *testing.T) *admissions {
	t.Helper()
	container := map[string]any{"name": "main", "image": "main"}
	return admit(t, s.Objects, admitted("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", map[string]any{"leaderWorkerTemplate": map[string]any{
		"workerTemplate": map[string]any{"spec": map[string]any{"containers": []any{container}}},
	}}))
}

// wasFrozen fails unless the last upgrade of a component denied changes, and nothing else did. It
// returns how long they were denied.
func (s *site) wasFrozen(t *testing.T, component string, a *admissions) time.Duration {
	t.Helper()
	status := s.upgrade(t, component).Status
	all, failed := a.between(status.StartTime.Time, status.CompletionTime.Time)
	var denied []time.Time
	for _, result := range failed {
		if strings.Contains(result.err.Error(), "refit-freeze-"+component) {
			denied = append(denied, result.at)
		} else {
			t.Errorf("not denied by the freeze: %v", result.err)
		}
	}
	t.Logf("the freeze denied %d of %d requests", len(denied), all)
	if len(denied) == 0 {
		t.Fatal("the freeze denied nothing")
	}
	return slices.MaxFunc(denied, time.Time.Compare).Sub(slices.MinFunc(denied, time.Time.Compare))
}

// show prints how many admissions failed in a period.
func (a *admissions) show(t *testing.T, figure string, from, to time.Time) (failed []admission) {
	t.Helper()
	all, failed := a.between(from, to)
	show(t, figure, float64(all), "requests")
	show(t, figure+"_failed", float64(len(failed)), "requests")
	return failed
}
