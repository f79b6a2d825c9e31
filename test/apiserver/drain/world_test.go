//go:build apiserver

package drain

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/engine/drain"
	"github.com/refit-dev/refit/test/apiserver"
)

const (
	checkTimeout = 90 * time.Second // the machine may be busy
	soon         = 2 * time.Second
)

func TestMain(m *testing.M) { os.Exit(apiserver.Main(m)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a node with pods, in a namespace of its own.
type world struct {
	t         *testing.T
	s         *apiserver.Server
	admin     kubernetes.Interface
	namespace string
	node      string
	wire      *wire // of the drain
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return worldOn(t, apiserver.Shared(t, apiserver.Options{}))
}

func worldOn(t *testing.T, s *apiserver.Server) *world {
	t.Helper()
	admin, err := kubernetes.NewForConfig(s.RESTConfig())
	must(t, err)
	made, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "shop-"}}, metav1.CreateOptions{})
	must(t, err)
	return &world{t: t, s: s, admin: admin, namespace: made.Name, node: "node-of-" + made.Name, wire: &wire{}}
}

// drainer returns a Drainer whose requests the wire counts.
func (w *world) drainer(config *rest.Config) *drain.Drainer {
	w.t.Helper()
	config.ContentType = runtime.ContentTypeJSON // the wire parses events
	config.AcceptContentTypes = runtime.ContentTypeJSON
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		w.wire.next = next
		return w.wire
	})
	client, err := kubernetes.NewForConfig(config)
	must(w.t, err)
	return drain.New(client, slog.New(slog.DiscardHandler))
}

type change func(*corev1.Pod)

// pod creates a running and ready pod of an app, which a ReplicaSet would recreate.
func (w *world) pod(app string, n int, changes ...change) *corev1.Pod {
	yes, second := true, int64(1)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: fmt.Sprintf("%s-%d", app, n), Labels: map[string]string{"app": app},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: app, UID: types.UID("uid-" + app), Controller: &yes}},
		},
		Spec: corev1.PodSpec{
			NodeName: w.node, Containers: []corev1.Container{{Name: "main", Image: "none"}}, TerminationGracePeriodSeconds: &second,
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
	for _, f := range changes {
		f(p)
	}
	return p
}

func bare(p *corev1.Pod) { p.OwnerReferences = nil }

// runs creates pods 1 to n of an app.
func (w *world) runs(app string, n int, changes ...change) {
	w.t.Helper()
	w.load(func(yield func(runtime.Object) bool) {
		for i := range n {
			if !yield(w.pod(app, i+1, changes...)) {
				return
			}
		}
	})
}

func (w *world) load(objects iter.Seq[runtime.Object]) {
	w.t.Helper()
	w.s.Load(w.t, 8, objects)
}

// budget creates a budget of an app, with the status that the disruption controller would write.
func (w *world) budget(name, app string, status policyv1.PodDisruptionBudgetStatus) {
	w.t.Helper()
	made, err := w.admin.PolicyV1().PodDisruptionBudgets(w.namespace).Create(w.t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}},
	}, metav1.CreateOptions{})
	must(w.t, err)
	made.Status = status
	made.Status.ObservedGeneration = made.Generation
	_, err = w.admin.PolicyV1().PodDisruptionBudgets(w.namespace).UpdateStatus(w.t.Context(), made, metav1.UpdateOptions{})
	must(w.t, err)
}

// counts returns the status that the disruption controller would write.
func counts(allowed, desired, healthy int32) policyv1.PodDisruptionBudgetStatus {
	return policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: allowed, DesiredHealthy: desired, CurrentHealthy: healthy, ExpectedPods: healthy}
}

// count updates the status of the budget cart, as the disruption controller does.
func (w *world) count(status policyv1.PodDisruptionBudgetStatus) {
	w.t.Helper()
	found, err := w.admin.PolicyV1().PodDisruptionBudgets(w.namespace).Get(w.t.Context(), "cart", metav1.GetOptions{})
	must(w.t, err)
	found.Status = status
	found.Status.ObservedGeneration = found.Generation
	_, err = w.admin.PolicyV1().PodDisruptionBudgets(w.namespace).UpdateStatus(w.t.Context(), found, metav1.UpdateOptions{})
	must(w.t, err)
}

// kubelet terminates deleted pods of the node as a kubelet does: it reports that they have
// terminated, and removes them a moment later.
func (w *world) kubelet(after time.Duration) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	var running sync.WaitGroup
	w.t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	running.Go(func() {
		begun := map[types.UID]bool{}
		for ctx.Err() == nil {
			w.kubeletSees(ctx, func(p *corev1.Pod) {
				if p.DeletionTimestamp == nil || begun[p.UID] {
					return
				}
				begun[p.UID] = true
				running.Go(func() { w.end(ctx, p, after) })
			})
		}
	})
}

// kubeletSees calls see for the pods of the node until the watch ends.
func (w *world) kubeletSees(ctx context.Context, see func(*corev1.Pod)) {
	pods := w.admin.CoreV1().Pods(metav1.NamespaceAll)
	only := metav1.ListOptions{FieldSelector: "spec.nodeName=" + w.node}
	found, err := pods.List(ctx, only)
	if err != nil {
		pauseFor(ctx, 100*time.Millisecond)
		return
	}
	for i := range found.Items {
		see(&found.Items[i])
	}
	only.ResourceVersion = found.ResourceVersion
	stream, err := pods.Watch(ctx, only)
	if err != nil {
		return
	}
	defer stream.Stop()
	for event := range stream.ResultChan() {
		if p, is := event.Object.(*corev1.Pod); is {
			see(p)
		}
	}
}

func (w *world) end(ctx context.Context, p *corev1.Pod, after time.Duration) {
	pods := w.admin.CoreV1().Pods(p.Namespace)
	pauseFor(ctx, after/2)
	for ctx.Err() == nil {
		_, err := pods.Patch(ctx, p.Name, types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status")
		if err == nil || apierrors.IsNotFound(err) {
			break
		}
		pauseFor(ctx, 100*time.Millisecond)
	}
	pauseFor(ctx, after/2)
	for ctx.Err() == nil {
		now := int64(0)
		err := pods.Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(p.UID))})
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return
		}
		pauseFor(ctx, 100*time.Millisecond)
	}
}

func pauseFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// drained is a drain that runs in the background.
type drained struct {
	t      *testing.T
	told   chan drain.Progress
	cancel context.CancelFunc
	ended  chan error
	last   drain.Progress
}

func (w *world) drain(order drain.Order) *drained {
	w.t.Helper()
	return w.drainAs(w.s.As(w.t, "drainer", "system:masters"), order)
}

func (w *world) drainAs(config *rest.Config, order drain.Order) *drained {
	w.t.Helper()
	order.Node = w.node
	d := &drained{t: w.t, told: make(chan drain.Progress, 10000), ended: make(chan error, 1)}
	drainer := w.drainer(config)
	ctx, cancel := context.WithCancel(w.t.Context())
	d.cancel = cancel
	over := make(chan struct{})
	w.t.Cleanup(func() {
		cancel()
		<-over
	})
	go func() {
		defer close(over)
		var telling sync.Mutex
		var last *drain.Progress
		d.ended <- drainer.Drain(ctx, order, func(p drain.Progress) {
			if !telling.TryLock() {
				w.t.Error("it is told twice at once")
				return
			}
			defer telling.Unlock()
			if last != nil && fmt.Sprint(*last) == fmt.Sprint(p) {
				w.t.Errorf("it is told twice: %+v", p)
			}
			last = &p
			d.told <- p
		})
	}()
	return d
}

// until waits for a matching progress.
func (d *drained) until(what string, fits func(drain.Progress) bool) drain.Progress {
	d.t.Helper()
	for deadline := time.After(checkTimeout); ; {
		select {
		case d.last = <-d.told:
			if fits(d.last) {
				return d.last
			}
		case err := <-d.ended:
			d.t.Fatalf("it ended with %v before %s; last told %+v", err, what, d.last)
		case <-deadline:
			d.t.Fatalf("%s was not told; last %+v", what, d.last)
		}
	}
}

// blocked waits until these are the blockers, each as "NAME: REASON".
func (d *drained) blocked(want ...string) drain.Progress {
	d.t.Helper()
	return d.until(fmt.Sprintf("%q", want), func(p drain.Progress) bool { return slices.Equal(reasons(p), want) })
}

func reasons(p drain.Progress) []string {
	var all []string
	for _, b := range p.Blockers {
		_, name, _ := strings.Cut(b.Pod, "/")
		if name == "" {
			name = b.Pod
		}
		all = append(all, name+": "+b.Reason)
	}
	return all
}

// empties waits until the drain succeeds.
func (d *drained) empties() drain.Progress {
	d.t.Helper()
	if err := d.ends(); err != nil {
		d.t.Fatalf("it ended with %v; last told %+v", err, d.last)
	}
	if d.last.Remaining != 0 || len(d.last.Blockers) != 0 || d.last.Progressing {
		d.t.Errorf("it ended as empty with %+v", d.last)
	}
	return d.last
}

// ends waits until the drain ends, and reads its last progress.
func (d *drained) ends() error {
	d.t.Helper()
	select {
	case err := <-d.ended:
		for len(d.told) > 0 {
			d.last = <-d.told
		}
		return err
	case <-time.After(checkTimeout):
		for len(d.told) > 0 {
			d.last = <-d.told
		}
		d.t.Fatalf("it does not end; last told %+v", d.last)
	}
	return nil
}

// goesOn requires that the drain does not end soon.
func (d *drained) goesOn() {
	d.t.Helper()
	select {
	case err := <-d.ended:
		d.t.Fatalf("it ended with %v", err)
	case <-time.After(soon):
	}
}

// wire is a proxy between a drain and the API. It counts requests, and can drop pod events or hang.
type wire struct {
	next http.RoundTripper

	mu       sync.Mutex
	seen     []string // "evict NAME", "delete NAME", "list pods", "watch pods", …
	swallow  func(event string) bool
	swallows int // how many watches drop events; later ones pass everything
	hangs    atomic.Bool
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	what, watches := describe(r)
	w.mu.Lock()
	w.seen = append(w.seen, what)
	swallow := w.swallow != nil && what == "watch pods" && w.swallows > 0
	if swallow {
		w.swallows--
	}
	w.mu.Unlock()
	if w.hangs.Load() {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	response, err := w.next.RoundTrip(r)
	if err == nil && watches && swallow {
		response.Body = filter(response.Body, func(line string) bool { return !w.swallow(line) })
	}
	return response, err
}

func describe(r *http.Request) (what string, watches bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	last := parts[len(parts)-1]
	switch {
	case last == "eviction":
		return "evict " + parts[len(parts)-2], false
	case r.Method == http.MethodDelete:
		return "delete " + last, false
	case r.URL.Query().Get("watch") != "":
		return "watch " + last, true
	case r.Method == http.MethodGet && (last == "pods" || last == "poddisruptionbudgets"):
		return "list " + last, false
	}
	return strings.ToLower(r.Method) + " " + last, false
}

// requests returns the requests so far.
func (w *wire) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}

// settled returns the requests so far, once none was made for a moment.
func (w *wire) settled() []string {
	before := w.requests()
	for {
		time.Sleep(time.Second)
		after := w.requests()
		if len(after) == len(before) {
			return after
		}
		before = after
	}
}

// count returns how many requests have this prefix.
func (w *wire) count(prefix string) int {
	n := 0
	for _, what := range w.requests() {
		if strings.HasPrefix(what, prefix) {
			n++
		}
	}
	return n
}

// filter passes on the matching lines of a stream.
func filter(body io.ReadCloser, pass func(line string) bool) io.ReadCloser {
	reader, writer := io.Pipe()
	go func() {
		lines := bufio.NewReader(body)
		for {
			line, err := lines.ReadString('\n')
			if line != "" && pass(line) {
				if _, err := writer.Write([]byte(line)); err != nil {
					return
				}
			}
			if err != nil {
				writer.CloseWithError(err)
				return
			}
		}
	}()
	return filtered{reader, body}
}

type filtered struct {
	*io.PipeReader

	body io.Closer
}

func (f filtered) Close() error {
	f.PipeReader.Close()
	return f.body.Close()
}
