package trial

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// Other tests run against real API servers, in test/apiserver/trial.

func agents() *appsv1.DaemonSet {
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: agentNamespace, Name: agentName}}
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "pause", Image: "registry.example/refit-agent:v0.1.0"}}
	return set
}

func TestKubeletThatDoesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		existing []runtime.Object
		message  string
	}{
		"no former Pod": {nil, "the Pod did not end within 500ms: the kubelet reports no reason: check that it runs (`systemctl status kubelet`)"},
		"the Pod of a former trial": {
			[]runtime.Object{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "n1", UID: "former", DeletionTimestamp: &metav1.Time{Time: time.Now()}, Finalizers: []string{"x"}}}},
			"the Pod did not end within 500ms: the Pod of a former trial is still terminating",
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(append(c.existing, agents())...)
			err := (&Runner{client: client, timeout: 500 * time.Millisecond}).Try(t.Context(), "n1", 7)
			failure, is := errors.AsType[*Failure](err)
			if !is || failure.Message != c.message {
				t.Errorf("%v", err)
			}
			left, err := client.CoreV1().Pods(Namespace).List(t.Context(), metav1.ListOptions{})
			if err != nil || len(left.Items) != len(c.existing) {
				t.Errorf("%v, left %+v", err, left.Items)
			}
		})
	}
}

// An error of an unreachable API means nothing about the node. A refusal is a Failure.
func TestErrorsOfTheAPI(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, c := range map[string]struct {
		err     error
		failure bool
	}{
		"unreachable":   {apierrors.NewServiceUnavailable("etcd has no leader"), false},
		"slow":          {apierrors.NewTimeoutError("later", 1), false},
		"no permission": {apierrors.NewForbidden(pods, "n1", errors.New("no permission")), true},
		"no namespace":  {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, Namespace), true},
		"a policy":      {apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "n1", nil), true},
		"another's Pod": {apierrors.NewAlreadyExists(pods, "n1"), false},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(agents())
			client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, c.err })
			err := New(client).Try(t.Context(), "n1", 7)
			if _, is := errors.AsType[*Failure](err); err == nil || is != c.failure || !strings.Contains(err.Error(), "cannot create a Pod on the node: ") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestCancelledTrialDeletesItsPod(t *testing.T) {
	client := fake.NewClientset(agents())
	ctx, cancel := context.WithCancel(t.Context())
	client.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		cancel()
		return false, nil, nil
	})
	err := New(client).Try(ctx, "n1", 7)
	if _, is := errors.AsType[*Failure](err); err == nil || is {
		t.Errorf("%v", err)
	}
	left, err := client.CoreV1().Pods(Namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(left.Items) != 0 {
		t.Errorf("%v, left %+v", err, left.Items)
	}
}

func TestLastWarningIsReported(t *testing.T) {
	now := time.Now()
	old, series, late := event("old", now.Add(-time.Hour)), event("series", now.Add(-time.Minute)), event("late", now)
	series.Series = &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(now.Add(time.Minute))}
	late.LastTimestamp, late.EventTime = metav1.Time{}, metav1.NewMicroTime(now)
	for _, c := range []struct {
		events []runtime.Object
		want   string
	}{
		{nil, ""},
		{[]runtime.Object{old}, "Failed: old"},
		{[]runtime.Object{old, late}, "Failed: late"},
		{[]runtime.Object{late, series, old}, "Failed: series"},
	} {
		a := &attempt{Runner: New(fake.NewClientset(c.events...)), created: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "created"}}}
		if got := a.warning(t.Context()); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// At the deadline of a Pod, some kubelets no longer report why its container never ran.
func TestReasonOfAContainerThatNeverStartedIsKept(t *testing.T) {
	pod := func(phase corev1.PodPhase, state corev1.ContainerState) watch.Event {
		return watch.Event{Type: watch.Modified, Object: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "created"}, Status: corev1.PodStatus{
			Phase: phase, Reason: "DeadlineExceeded", ContainerStatuses: []corev1.ContainerStatus{{State: state}},
		}}}
	}
	a := &attempt{Runner: New(fake.NewClientset()), created: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "created"}}}
	handle := a.handle(t.Context())
	for _, reason := range []string{"ErrImagePull", "ContainerCreating"} {
		if done, err := handle(pod(corev1.PodPending, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}})); done || err != nil {
			t.Errorf("%v %v", done, err)
		}
	}
	unknown := &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown", Message: "could not be located"}
	if done, err := handle(pod(corev1.PodFailed, corev1.ContainerState{Terminated: unknown})); done || err == nil || err.Error() != "ErrImagePull" {
		t.Errorf("%v %v", done, err)
	}
}

func TestEndOfALongWarningIsKept(t *testing.T) {
	long := "Failed to create pod sandbox: " + strings.Repeat("rpc error: ", 40) + "no IP addresses available"
	if got := joined("FailedCreatePodSandBox", long); !strings.HasPrefix(got, "FailedCreatePodSandBox: …") || !strings.HasSuffix(got, "no IP addresses available") || len(got) > 256 {
		t.Errorf("%q", got)
	}
}

func event(message string, at time.Time) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: message}, InvolvedObject: corev1.ObjectReference{UID: "created"},
		Type: corev1.EventTypeWarning, Reason: "Failed", Message: message, LastTimestamp: metav1.NewTime(at),
	}
}
