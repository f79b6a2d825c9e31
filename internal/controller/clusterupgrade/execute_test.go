package clusterupgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/assess"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

// scene is a Reconciler with one node, worker-1, and what it logs and records.
type scene struct {
	*Reconciler

	t        *testing.T
	recorder *events.FakeRecorder
	failing  error // of every patch
	pods     []string

	mu  sync.Mutex
	log []string
}

func newScene(t *testing.T, objects ...client.Object) *scene {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, refitv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &scene{t: t, recorder: events.NewFakeRecorder(10)}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&refitv1alpha1.NodeUpgrade{}, &refitv1alpha1.ClusterUpgrade{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				if s.failing != nil {
					return s.failing
				}
				return c.Patch(ctx, o, p, opts...)
			},
		}).Build()
	s.Reconciler = &Reconciler{
		Cache: c, Client: c, Recorder: s.recorder, Now: time.Now,
		PodsToEvict: func(context.Context, string) ([]string, error) { return s.pods, nil },
	}
	return s
}

// execute executes actions that were decided on the objects as they are stored, changed by a
// function.
func (s *scene) execute(observed func(*cluster.Node), actions ...plan.Action) error {
	s.t.Helper()
	n := &cluster.Node{Name: "worker-1", Report: &refitv1alpha1.NodeReportStatus{}}
	stored, order := &corev1.Node{}, &refitv1alpha1.NodeUpgrade{}
	if s.Client.Get(s.t.Context(), types.NamespacedName{Name: n.Name}, stored) == nil {
		n.UID, n.Unschedulable = string(stored.UID), stored.Spec.Unschedulable
		n.CordonedBy, n.ProtectedBy = string(cordonedBy(stored)), string(protectedBy(stored))
	}
	if s.Client.Get(s.t.Context(), types.NamespacedName{Name: n.Name}, order) == nil {
		n.Upgrade = &cluster.Upgrade{Spec: order.Spec, Status: order.Status}
	}
	observed(n)
	operation := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "to-v1.36", UID: "op"}}
	logger := funcr.New(func(_, args string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log = append(s.log, args)
	}, funcr.Options{})
	return s.Reconciler.execute(ctrllog.IntoContext(s.t.Context(), logger), &observation{
		operation: operation, nodes: map[string]*cluster.Node{n.Name: n}, now: time.Now(),
		Assessment: &assess.Assessment{Decision: plan.Decision{Actions: actions}},
	})
}

func (s *scene) expectLog(want ...string) {
	s.t.Helper()
	if !slices.Equal(s.log, want) {
		s.t.Errorf("logged\n%q, want\n%q", s.log, want)
	}
}

func (s *scene) expectEvents(want ...string) {
	s.t.Helper()
	var got []string
	for len(s.recorder.Events) > 0 {
		got = append(got, <-s.recorder.Events)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("recorded %q, want %q", got, want)
	}
}

func asObserved(*cluster.Node) {}

func worker() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1", UID: "uid"}}
}

// drained is an order whose node was drained for it.
func drained() *refitv1alpha1.NodeUpgrade {
	u := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}}
	u.Spec.NodeUID, u.Spec.Sequence, u.Spec.Permit = "uid", 3, refitv1alpha1.PermitPrefetch
	u.Status.Drain = &refitv1alpha1.DrainStatus{Sequence: 3, Phase: refitv1alpha1.DrainDrained}
	return u
}

func logLine(action plan.ActionKind, reason string) string {
	return fmt.Sprintf(`"level"=0 "msg"="Executed action" "operation"="to-v1.36" "node"="worker-1" "action"=%q "reason"=%q`, action, reason)
}

func TestAnExecutedActionIsLoggedAndRecorded(t *testing.T) {
	s := newScene(t, worker())
	if err := s.execute(asObserved, plan.Action{Kind: plan.Cordon, Node: "worker-1", Reason: "it was selected"}); err != nil {
		t.Fatal(err)
	}
	s.expectLog(logLine(plan.Cordon, "it was selected"))
	s.expectEvents("Normal Cordoned it was selected")
}

func TestAnActionThatNoLongerAppliesIsNeitherExecutedNorLogged(t *testing.T) {
	cordon := plan.Action{Kind: plan.Cordon, Node: "worker-1"}
	for situation, tt := range map[string]struct {
		action   plan.Action
		observed func(*cluster.Node)
		failing  error
	}{
		"the node joined again":         {cordon, func(n *cluster.Node) { n.UID = "former" }, nil},
		"a user uncordoned it":          {cordon, func(n *cluster.Node) { n.Unschedulable = true }, nil},
		"another write came first":      {cordon, asObserved, apierrors.NewConflict(corev1.Resource("nodes"), "worker-1", errors.New("it was modified"))},
		"the node was deleted":          {cordon, asObserved, apierrors.NewNotFound(corev1.Resource("nodes"), "worker-1")},
		"another operation protects it": {plan.Action{Kind: plan.Unprotect, Node: "worker-1"}, asObserved, nil},
		"its protection changed":        {cordon, func(n *cluster.Node) { n.ProtectedBy = "former" }, nil},
		"the cordon is not Refit's":     {plan.Action{Kind: plan.Uncordon, Node: "worker-1"}, asObserved, nil},
		"an agent answered meanwhile":   {plan.Action{Kind: plan.Drain, Node: "worker-1"}, func(n *cluster.Node) { n.Upgrade.Status.Phase = "Applying" }, nil},
		"the report is requested":       {plan.Action{Kind: plan.RequestReport, Node: "worker-1", Request: 5}, func(n *cluster.Node) { n.ReportRequest = 5 }, nil},
		"the drain is for an old order": {plan.Action{Kind: plan.Skip, Node: "worker-1"}, func(n *cluster.Node) { n.Upgrade.Spec.Sequence = 2 }, nil},
	} {
		t.Run(situation, func(t *testing.T) {
			s := newScene(t, worker(), drained())
			s.failing = tt.failing
			if err := s.execute(tt.observed, tt.action); err != nil {
				t.Error(err)
			}
			s.expectLog()
			s.expectEvents()
		})
	}
}

func TestAFailureNamesTheActionAndTheNode(t *testing.T) {
	s := newScene(t, worker())
	s.failing = apierrors.NewInternalError(errors.New("etcdserver: leader changed"))
	err := s.execute(asObserved, plan.Action{Kind: plan.Cordon, Node: "worker-1"})
	want := "cannot execute Cordon on node worker-1: cannot patch node: Internal error occurred: etcdserver: leader changed"
	if err == nil || err.Error() != want {
		t.Errorf("returned %v, want %s", err, want)
	}
	s.expectLog() // controller-runtime logs what Reconcile returns
}

func TestANodeWithNewPodsIsDrainedAgainInsteadOfUpgraded(t *testing.T) {
	s := newScene(t, worker(), drained())
	s.pods = []string{"shop/cart-1"}
	apply := plan.Action{Kind: plan.Apply, Node: "worker-1", Release: &refitv1alpha1.ReleaseRef{Name: "v1.36.3"}, Reason: "it is drained"}
	if err := s.execute(asObserved, apply); err != nil {
		t.Fatal(err)
	}
	const again = "pods were bound to the node after it was drained"
	s.expectLog(logLine(plan.Drain, again))
	s.expectEvents("Normal Draining " + again)
	u := &refitv1alpha1.NodeUpgrade{}
	if err := s.Client.Get(t.Context(), types.NamespacedName{Name: "worker-1"}, u); err != nil {
		t.Fatal(err)
	}
	if u.Spec.Permit != refitv1alpha1.PermitPrefetch || u.Status.Drain.Phase != refitv1alpha1.DrainDraining {
		t.Errorf("permit %s, drain %s", u.Spec.Permit, u.Status.Drain.Phase)
	}
}
