//go:build e2e

package components

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

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

// admit starts to create objects of a resource in the namespace default.
func (s *site) admit(t *testing.T, resource schema.GroupVersionResource, kind string, spec map[string]any) *admissions {
	t.Helper()
	a := &admissions{}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": resource.GroupVersion().String(), "kind": kind, "metadata": map[string]any{"name": "admitted", "namespace": "default"}, "spec": spec,
	}}
	running.Go(func() {
		for tick := time.NewTicker(admissionInterval); ctx.Err() == nil; {
			select {
			case <-ctx.Done():
			case <-tick.C:
				running.Go(func() {
					started := time.Now()
					short, done := bed.Soon(ctx)
					defer done()
					_, err := s.Objects.Resource(resource).Namespace("default").Create(short, object.DeepCopy(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
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
	resource := schema.GroupVersionResource{Group: "made.test", Version: "v1", Resource: "things"}
	return s.admit(t, resource, "Thing", map[string]any{"size": int64(1)})
}

// admitSets creates objects that the webhooks of LeaderWorkerSet admit.
func (s *site) admitSets(t *testing.T) *admissions {
	t.Helper()
	resource := schema.GroupVersionResource{Group: "leaderworkerset.x-k8s.io", Version: "v1", Resource: "leaderworkersets"}
	container := map[string]any{"name": "main", "image": "main"}
	return s.admit(t, resource, "LeaderWorkerSet", map[string]any{"leaderWorkerTemplate": map[string]any{
		"workerTemplate": map[string]any{"spec": map[string]any{"containers": []any{container}}},
	}})
}

// wasFrozen fails unless the last upgrade of the made chart denied changes, and nothing else did.
func (s *site) wasFrozen(t *testing.T, a *admissions) {
	t.Helper()
	status := s.upgrade(t, made).Status
	all, failed := a.between(status.StartTime.Time, status.CompletionTime.Time)
	denied := 0
	for _, result := range failed {
		if strings.Contains(result.err.Error(), "refit-freeze-made") {
			denied++
		} else {
			t.Errorf("not denied by the freeze: %v", result.err)
		}
	}
	t.Logf("the freeze denied %d of %d requests", denied, all)
	if denied == 0 {
		t.Error("the freeze denied nothing")
	}
}

// show prints how many admissions failed in a period.
func (a *admissions) show(t *testing.T, figure string, from, to time.Time) (failed []admission) {
	t.Helper()
	all, failed := a.between(from, to)
	show(t, figure, float64(all), "requests")
	show(t, figure+"_failed", float64(len(failed)), "requests")
	return failed
}
