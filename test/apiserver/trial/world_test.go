//go:build apiserver

package trial

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/controller/nodeupgrade"
	"github.com/refit-dev/refit/internal/engine/install"
	"github.com/refit-dev/refit/internal/engine/trial"
	"github.com/refit-dev/refit/test/apiserver"
)

const (
	checkTimeout = 90 * time.Second // the machine may be busy
	soon         = 3 * time.Second
	image        = "registry.example/refit-agent:v0.1.0"
)

func TestMain(m *testing.M) { os.Exit(apiserver.Main(m)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a cluster in which Refit is installed, with one node that was changed.
type world struct {
	t      *testing.T
	server *apiserver.Server
	typed  kubernetes.Interface
	admin  client.Client
	node   string
}

var installed sync.Map

// newWorld creates a node in a cluster that tests share.
func newWorld(t *testing.T, node string) *world {
	t.Helper()
	return worldOn(t, apiserver.Shared(t, apiserver.Options{}), node)
}

func worldOn(t *testing.T, s *apiserver.Server, node string) *world {
	t.Helper()
	once, _ := installed.LoadOrStore(s, &sync.Once{})
	once.(*sync.Once).Do(func() { installOn(t, s.RESTConfig()) })
	typed, err := kubernetes.NewForConfig(s.RESTConfig())
	must(t, err)
	admin, err := client.New(s.RESTConfig(), client.Options{Scheme: scheme()})
	must(t, err)
	w := &world{t: t, server: s, typed: typed, admin: admin, node: node}
	w.kubelet()
	return w
}

func installOn(t *testing.T, config *rest.Config) {
	t.Helper()
	cluster, err := install.New(config)
	must(t, err)
	o := install.Options{
		Manifests: os.DirFS("../../../config"), Version: "v0.1.0", Controller: "registry.example/refit-controller:v0.1.0", Agent: image,
		Keys: map[string]string{"one.pem": "key"},
	}
	objects, err := install.Render(o)
	must(t, err)
	_, err = cluster.Apply(t.Context(), objects, o.Version, false, install.Callbacks{})
	must(t, err)
}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(refitv1alpha1.AddToScheme(s))
	return s
}

// live runs the controller with its own permissions until end is called. It observes this node
// only: tests that share a cluster each have one.
func (w *world) live() (end func()) {
	w.t.Helper()
	own := w.server.As(w.t, "system:serviceaccount:refit-system:refit-controller", "system:serviceaccounts", "system:serviceaccounts:refit-system")
	again := true
	only := cache.ByObject{Field: fields.OneTermEqualSelector(metav1.ObjectNameField, w.node)}
	manager, err := ctrl.NewManager(own, ctrl.Options{
		Scheme: scheme(), Metrics: ctrlmetrics.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: &again},
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{&refitv1alpha1.NodeUpgrade{}: only}},
	})
	must(w.t, err)
	live, err := client.New(own, client.Options{Scheme: scheme()})
	must(w.t, err)
	typed, err := kubernetes.NewForConfig(own)
	must(w.t, err)
	c := &nodeupgrade.Reconciler{Client: live, Trials: trial.New(typed), Recorder: manager.GetEventRecorder("refit"), Now: time.Now}
	must(w.t, c.SetupWithManager(manager, controller.Options{}))
	ctx, cancel := context.WithCancel(w.t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := manager.Start(ctx); err != nil {
			w.t.Errorf("the controller ended: %v", err)
		}
	})
	end = func() {
		cancel()
		running.Wait()
	}
	w.t.Cleanup(end)
	return end
}

// changed creates the node's order for an operation of its own, and requests a trial of it.
func (w *world) changed(phase refitv1alpha1.TrialPhase) *refitv1alpha1.ClusterUpgrade {
	w.t.Helper()
	operation := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "upgrade-" + w.node}}
	operation.Spec.Target.Kubernetes = "v1.36.3"
	must(w.t, w.admin.Create(w.t.Context(), operation))
	u := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: w.node}, Spec: refitv1alpha1.NodeUpgradeSpec{
		Format: refitv1alpha1.MinOrderFormat, Operation: refitv1alpha1.Operation{Name: operation.Name, UID: operation.UID}, NodeUID: "uid",
		MachineID: "0123456789abcdef0123456789abcdef", Sequence: 7, Epoch: 1, Role: refitv1alpha1.RoleControlPlane, Permit: refitv1alpha1.PermitApply,
		Release: refitv1alpha1.ReleaseRef{Name: "kubernetes-v1.36.3", Digest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
	}}
	must(w.t, w.admin.Create(w.t.Context(), u))
	u.Status.Trial = &refitv1alpha1.TrialStatus{Sequence: 7, Phase: phase}
	must(w.t, w.admin.Status().Update(w.t.Context(), u))
	return operation
}

func (w *world) until(what string, holds func(ctx context.Context) bool) {
	w.t.Helper()
	err := wait.PollUntilContextTimeout(w.t.Context(), 50*time.Millisecond, checkTimeout, true, func(ctx context.Context) (bool, error) { return holds(ctx), nil })
	if err != nil {
		w.t.Fatalf("%s: waited for it for %s; the trial is %+v", what, checkTimeout, w.trial(w.t.Context()))
	}
}

func (w *world) trial(ctx context.Context) refitv1alpha1.TrialStatus {
	u := &refitv1alpha1.NodeUpgrade{}
	if err := w.admin.Get(ctx, types.NamespacedName{Name: w.node}, u); err != nil || u.Status.Trial == nil {
		return refitv1alpha1.TrialStatus{}
	}
	return *u.Status.Trial
}

// ends waits until the trial reaches a phase.
func (w *world) ends(phase refitv1alpha1.TrialPhase) refitv1alpha1.TrialStatus {
	w.t.Helper()
	var found refitv1alpha1.TrialStatus
	w.until("the trial to become "+string(phase), func(ctx context.Context) bool {
		found = w.trial(ctx)
		return found.Phase == phase
	})
	if found.CompletionTime.IsZero() {
		w.t.Errorf("nobody says when it ended: %+v", found)
	}
	return found
}

// pod waits for the Pod that tries the node, other than these.
func (w *world) pod(other ...types.UID) *corev1.Pod {
	w.t.Helper()
	var found *corev1.Pod
	w.until("a Pod to try the node", func(ctx context.Context) bool {
		var err error
		found, err = w.typed.CoreV1().Pods(trial.Namespace).Get(ctx, w.node, metav1.GetOptions{})
		return err == nil && found.DeletionTimestamp == nil && (len(other) == 0 || found.UID != other[0])
	})
	return found
}

func (w *world) gone() {
	w.t.Helper()
	w.until("the Pod to be removed", func(ctx context.Context) bool {
		_, err := w.typed.CoreV1().Pods(trial.Namespace).Get(ctx, w.node, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// says writes the status of a Pod, as a kubelet does.
func (w *world) says(pod *corev1.Pod, status corev1.PodStatus) {
	w.t.Helper()
	pod = pod.DeepCopy()
	pod.Status, pod.ResourceVersion = status, ""
	_, err := w.typed.CoreV1().Pods(pod.Namespace).UpdateStatus(w.t.Context(), pod, metav1.UpdateOptions{})
	must(w.t, err)
}

// kubelet removes the node's Pod once it is terminating.
func (w *world) kubelet() {
	pods := w.typed.CoreV1().Pods(trial.Namespace)
	ctx, cancel := context.WithCancel(w.t.Context())
	var running sync.WaitGroup
	w.t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	running.Go(func() {
		wait.UntilWithContext(ctx, func(ctx context.Context) {
			now := int64(0)
			if p, err := pods.Get(ctx, w.node, metav1.GetOptions{}); err == nil && p.DeletionTimestamp != nil {
				_ = pods.Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(p.UID))})
			}
		}, 100*time.Millisecond)
	})
}

// succeeded and ended return how a Pod ends, the latter with the output of its container.
func succeeded() corev1.PodStatus { return corev1.PodStatus{Phase: corev1.PodSucceeded} }

func ended(message string) corev1.PodStatus {
	terminated := &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: message, StartedAt: metav1.Now(), FinishedAt: metav1.Now()}
	return corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{Name: "try", State: corev1.ContainerState{Terminated: terminated}}}}
}

func waiting(reason, message string) corev1.PodStatus {
	state := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	return corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "try", State: state}}}
}

// late returns a Pod whose container did not start before the timeout.
func late() corev1.PodStatus {
	unknown := &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown", Message: "The container could not be located when the pod was terminated"}
	return corev1.PodStatus{
		Phase: corev1.PodFailed, Reason: "DeadlineExceeded", Message: "Pod was active on the node longer than the specified deadline",
		ContainerStatuses: []corev1.ContainerStatus{{Name: "try", State: corev1.ContainerState{Terminated: unknown}}},
	}
}
