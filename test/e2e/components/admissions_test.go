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

// stoppingTime is how long a Service may lead to a pod that stops. A webhook without a preStop hook
// closes its port as soon as it is stopped, and kube-proxy changes its rules later: requests in
// between are refused, whoever upgrades the webhook.
const stoppingTime = 3 * time.Second

// show prints how many admissions failed in a period. It fails if one did that no stopping pod
// explains.
func (a *admissions) show(t *testing.T, figure string, stops *stops, from, to time.Time) {
	t.Helper()
	all, failed := a.between(from, to)
	show(t, figure, float64(all), "requests")
	show(t, figure+"_failed", float64(len(failed)), "requests")
	for _, result := range failed {
		pod, after := stops.before(result.at)
		if pod == "" || after > stoppingTime {
			t.Errorf("an admission failed while no pod of the webhook stopped: %v", result.err)
			continue
		}
		t.Logf("an admission failed %.1f s after Pod %s was stopped: %v", after.Seconds(), pod, result.err)
	}
}

// stops records when pods were first seen to be deleted.
type stops struct {
	mu   sync.Mutex
	pods map[string]time.Time
}

// watchStops starts to record the pods of a namespace.
func (s *site) watchStops(t *testing.T, namespace string) *stops {
	t.Helper()
	found := &stops{pods: map[string]time.Time{}}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for tick := time.NewTicker(admissionInterval); ctx.Err() == nil; {
			select {
			case <-ctx.Done():
			case <-tick.C:
				found.observe(ctx, s, namespace)
			}
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return found
}

func (f *stops) observe(ctx context.Context, s *site, namespace string) {
	short, done := bed.Soon(ctx)
	defer done()
	started := time.Now()
	pods, err := s.Objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(namespace).List(short, metav1.ListOptions{})
	if err != nil {
		return // an API server restarts; the next one is queried
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range pods.Items {
		name := pods.Items[i].GetName()
		if _, known := f.pods[name]; !known && pods.Items[i].GetDeletionTimestamp() != nil {
			f.pods[name] = started.Add(-admissionInterval) // it may be one interval old
		}
	}
}

// before returns the pod that was stopped last before a time, and how long before.
func (f *stops) before(at time.Time) (pod string, after time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, stopped := range f.pods {
		if d := at.Sub(stopped); d >= -admissionInterval && (pod == "" || d < after) {
			pod, after = name, d
		}
	}
	return pod, after
}
