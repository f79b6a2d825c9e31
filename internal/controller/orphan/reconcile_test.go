package orphan

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const name = "worker-1"

var key = types.NamespacedName{Name: name}

func newClient(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, refitv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(funcs).Build()
}

// node is a node that is cordoned, by the operation of this UID or, if that is empty, by a user.
func node(operation string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "node-uid"}, Spec: corev1.NodeSpec{Unschedulable: true}}
	if operation != "" {
		n.Annotations = map[string]string{refitv1alpha1.AnnotationCordonedBy: operation}
	}
	return n
}

func operation(uid types.UID) *refitv1alpha1.ClusterUpgrade {
	return &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: string(uid), UID: uid}}
}

// order is an order of the deleted operation.
func order(permit refitv1alpha1.Permit, observed int64, phase refitv1alpha1.NodePhase) *refitv1alpha1.NodeUpgrade {
	u := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name}}
	u.Spec.Operation.UID, u.Spec.NodeUID, u.Spec.Sequence, u.Spec.Permit = "deleted", "node-uid", 7, permit
	u.Status.ObservedSequence, u.Status.Phase = observed, phase
	return u
}

func partlyChanged() *refitv1alpha1.NodeUpgrade {
	u := order(refitv1alpha1.PermitHold, 7, refitv1alpha1.NodeFailed)
	u.Status.Steps = []refitv1alpha1.StepStatus{{Name: "swap-kubelet", State: refitv1alpha1.StepFailed}}
	return u
}

func TestReconcile(t *testing.T) {
	for situation, tt := range map[string]struct {
		objects    []client.Object
		uncordoned bool
		held       bool
		reported   bool
	}{
		"the operation was deleted":         {objects: []client.Object{node("deleted"), operation("another")}, uncordoned: true},
		"the operation exists":              {objects: []client.Object{node("op"), operation("op")}},
		"a user cordoned the node":          {objects: []client.Object{node("")}},
		"the node was deleted":              {objects: []client.Object{operation("op")}},
		"the agent may still start to swap": {objects: []client.Object{node("deleted"), order(refitv1alpha1.PermitApply, 7, refitv1alpha1.NodeApplying)}, held: true},
		"the agent may still roll back":     {objects: []client.Object{node("deleted"), order(refitv1alpha1.PermitRollback, 6, refitv1alpha1.NodeFailed)}, held: true},
		"the agent has not seen the hold":   {objects: []client.Object{node("deleted"), order(refitv1alpha1.PermitHold, 6, refitv1alpha1.NodeApplying)}},
		"the agent is still applying":       {objects: []client.Object{node("deleted"), order(refitv1alpha1.PermitHold, 7, refitv1alpha1.NodeApplying)}},
		"the host is partly changed":        {objects: []client.Object{node("deleted"), partlyChanged()}, reported: true},
		"the agent has finished": {
			objects: []client.Object{node("deleted"), order(refitv1alpha1.PermitHold, 7, refitv1alpha1.NodeSucceeded)}, uncordoned: true,
		},
	} {
		t.Run(situation, func(t *testing.T) {
			c, recorder := newClient(t, interceptor.Funcs{}, tt.objects...), events.NewFakeRecorder(1)
			before := permitOf(t, c)
			r := &Reconciler{Cache: c, Client: c, Recorder: recorder}
			if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			if got := uncordoned(t, c); got != tt.uncordoned {
				t.Errorf("uncordoned: %t, want %t", got, tt.uncordoned)
			}
			if recorded := len(recorder.Events) > 0; recorded != (tt.uncordoned || tt.reported) {
				t.Errorf("an Event was recorded: %t", recorded)
			}
			want := before
			if tt.held {
				want = refitv1alpha1.PermitHold
			}
			if got := permitOf(t, c); got != want {
				t.Errorf("the permit is %q, want %q", got, want)
			}
		})
	}
}

func TestAutoscalersMayRemoveANodeWhoseOperationNoLongerExists(t *testing.T) {
	n := node("")
	n.Annotations = cluster.Protect(map[string]string{refitv1alpha1.AnnotationDoNotDisrupt: "true"}, "deleted")
	c := newClient(t, interceptor.Funcs{}, n)
	r := &Reconciler{Cache: c, Client: c, Recorder: events.NewFakeRecorder(1)}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	left := &corev1.Node{}
	if err := c.Get(t.Context(), key, left); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{refitv1alpha1.AnnotationDoNotDisrupt: "true"}; !maps.Equal(left.Annotations, want) || !left.Spec.Unschedulable {
		t.Errorf("cordoned by the user: %t; annotations %v, want %v", left.Spec.Unschedulable, left.Annotations, want)
	}
}

func uncordoned(t *testing.T, c client.Client) bool {
	t.Helper()
	n := &corev1.Node{}
	if err := c.Get(t.Context(), key, n); err != nil {
		return client.IgnoreNotFound(err) != nil
	}
	return !n.Spec.Unschedulable && n.Annotations[refitv1alpha1.AnnotationCordonedBy] == ""
}

func permitOf(t *testing.T, c client.Client) refitv1alpha1.Permit {
	t.Helper()
	u := &refitv1alpha1.NodeUpgrade{}
	if err := client.IgnoreNotFound(c.Get(t.Context(), key, u)); err != nil {
		t.Fatal(err)
	}
	return u.Spec.Permit
}

func TestAHeldOrderIsNewerThanTheOneBefore(t *testing.T) {
	c := newClient(t, interceptor.Funcs{}, node("deleted"), order(refitv1alpha1.PermitApply, 7, refitv1alpha1.NodeApplying))
	r := &Reconciler{Cache: c, Client: c, Recorder: events.NewFakeRecorder(1)}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	u := &refitv1alpha1.NodeUpgrade{}
	if err := c.Get(t.Context(), key, u); err != nil || u.Spec.Sequence != 8 {
		t.Errorf("the sequence is %d (%v), so the agent refuses the order", u.Spec.Sequence, err)
	}
}

func TestACacheThatLagsUncordonsNothing(t *testing.T) {
	cache := newClient(t, interceptor.Funcs{}, node("op"))
	live := newClient(t, interceptor.Funcs{}, node("op"), operation("op"))
	r := &Reconciler{Cache: cache, Client: live, Recorder: events.NewFakeRecorder(1)}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	if uncordoned(t, live) {
		t.Error("a node was uncordoned whose operation exists")
	}
}

func TestOnlyAFailureIsRetried(t *testing.T) {
	nodes := schema.GroupResource{Resource: "nodes"}
	for situation, tt := range map[string]struct {
		err   error
		retry bool
	}{
		"another write came first": {err: apierrors.NewConflict(nodes, name, errors.New("it was modified"))},
		"the node is gone":         {err: apierrors.NewNotFound(nodes, name)},
		"the API server failed":    {err: apierrors.NewInternalError(errors.New("etcdserver: leader changed")), retry: true},
	} {
		t.Run(situation, func(t *testing.T) {
			c := newClient(t, interceptor.Funcs{
				Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
					return tt.err
				},
			}, node("deleted"))
			recorder := events.NewFakeRecorder(1)
			r := &Reconciler{Cache: c, Client: c, Recorder: recorder}
			_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
			if (err != nil) != tt.retry {
				t.Errorf("it returns %v", err)
			}
			if len(recorder.Events) > 0 {
				t.Error("an Event was recorded")
			}
		})
	}
}

func TestADeletedOperationEnqueuesTheNodesThatRefitCordoned(t *testing.T) {
	ours, foreign := node("deleted"), node("")
	foreign.Name = "worker-2"
	r := &Reconciler{Cache: newClient(t, interceptor.Funcs{}, ours, foreign)}
	if got, want := r.markedNodes(t.Context(), nil), []ctrl.Request{{NamespacedName: key}}; !slices.Equal(got, want) {
		t.Errorf("enqueues %v, want %v", got, want)
	}
}
