//go:build apiserver

package controller

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/controller"
	"github.com/refit-dev/refit/internal/controller/clusterrelease"
	"github.com/refit-dev/refit/internal/controller/clusterupgrade"
	"github.com/refit-dev/refit/internal/controller/component"
	"github.com/refit-dev/refit/internal/controller/etcdbackup"
	"github.com/refit-dev/refit/internal/controller/metrics"
	"github.com/refit-dev/refit/internal/controller/nodeupgrade"
	"github.com/refit-dev/refit/internal/controller/orphan"
	"github.com/refit-dev/refit/internal/controller/traces"
	"github.com/refit-dev/refit/internal/controller/upgradeschedule"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/test/apiserver"
	"github.com/refit-dev/refit/test/apiserver/agents"
)

const (
	from, to = "v1.35.4", "v1.36.3"
	op       = "to-1-36"

	checkTimeout = 3 * time.Minute // the machine may be busy
)

func TestMain(m *testing.M) {
	if kubeconfig := os.Getenv(asController); kubeconfig != "" {
		os.Exit(beController(kubeconfig))
	}
	os.Exit(apiserver.Main(m))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bed is a cluster with simulated hosts, on a server that all tests use in turn.
type bed struct {
	*apiserver.Server
	t      *testing.T
	client client.WithWatch
	config *rest.Config // for controllers
	hosts  *hosts
	watch  *monitor

	foreign map[string]bool // nodes that the test cordoned by hand
	// protected are what users have put on nodes to keep autoscalers off them.
	protected map[string]string
}

// newBed creates a cluster of three control plane nodes and four workers with an app of six pods,
// of which one may be unavailable.
func newBed(t *testing.T, changes ...clustertest.Change) *bed {
	t.Helper()
	return newBedOn(t, apiserver.Shared(t, apiserver.Options{}), changes...)
}

func newBedOn(t *testing.T, s *apiserver.Server, changes ...clustertest.Change) *bed {
	t.Helper()
	b := &bed{Server: s, t: t, hosts: newHosts(), foreign: map[string]bool{}, protected: map[string]string{}}
	for _, folder := range []string{"crd", "policy", "agent", "controller"} {
		b.Install(t, "../../../config/"+folder)
	}
	var err error
	b.client, err = client.NewWithWatch(b.RESTConfig(), client.Options{Scheme: scheme(t)})
	must(t, err)
	b.empty()
	shop := clustertest.Pods(cluster.Workload{Namespace: "shop", Kind: "Deployment", Name: "cart"},
		map[string]int32{"worker-1": 2, "worker-2": 2, "worker-3": 1, "worker-4": 1})
	snapshot := clustertest.HA(from, 3, 4, append([]clustertest.Change{shop, clustertest.Budget("shop", "cart", 1, "cart")}, changes...)...)
	must(t, agents.Load(t.Context(), b.RESTConfig(), snapshot, to))
	played, err := agents.New(b.RESTConfig(), b.hosts.options())
	must(t, err)
	b.config = played.Trusting(b.As(t, "system:serviceaccount:"+controller.Namespace+":refit-controller")) // with the permissions of an installed controller
	b.beside(func(ctx context.Context) { _ = played.Run(ctx) })                                            // stops with the test
	ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
	defer cancel()
	must(t, played.Reported(ctx))
	b.watch = newMonitor(b)
	return b
}

// controlPlaneDone returns a cluster whose control plane is at the target, so that workers start
// immediately.
func controlPlaneDone(s *cluster.Snapshot) {
	for _, n := range s.ControlPlane() {
		n.Kubelet = to
	}
	s.Kubeadm.KubernetesVersion = to
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	must(t, clientgoscheme.AddToScheme(s))
	must(t, refitv1alpha1.AddToScheme(s))
	return s
}

// empty removes the objects of the previous test.
func (b *bed) empty() {
	b.t.Helper()
	ctx := b.t.Context()
	var operations refitv1alpha1.ClusterUpgradeList
	must(b.t, b.client.List(ctx, &operations))
	for i := range operations.Items {
		operations.Items[i].Finalizers = nil
		must(b.t, client.IgnoreNotFound(b.client.Update(ctx, &operations.Items[i])))
	}
	all := []client.Object{
		&refitv1alpha1.ClusterUpgrade{}, &refitv1alpha1.NodeUpgrade{}, &refitv1alpha1.NodeReport{}, &refitv1alpha1.ClusterRelease{},
		&refitv1alpha1.EtcdBackup{}, &refitv1alpha1.BackupStore{}, &corev1.Node{},
	}
	for _, object := range all {
		must(b.t, b.client.DeleteAllOf(ctx, object))
	}
	now := client.GracePeriodSeconds(0)
	for _, namespace := range []string{"kube-system", "shop", "refit-trial", controller.Namespace} {
		for _, object := range []client.Object{&corev1.Pod{}, &policyv1.PodDisruptionBudget{}, &corev1.ConfigMap{}, &coordinationv1.Lease{}} {
			must(b.t, b.client.DeleteAllOf(ctx, object, client.InNamespace(namespace), now))
		}
	}
	must(b.t, b.client.DeleteAllOf(ctx, &eventsv1.Event{}, client.InNamespace(metav1.NamespaceDefault)))
	deployment := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "coredns"}}
	deployment.SetGroupVersionKind(appsDeployment)
	must(b.t, client.IgnoreNotFound(b.client.Delete(ctx, deployment)))
}

// beside runs a function until the test ends, or until the returned function is called.
func (b *bed) beside(run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(b.t.Context())
	var running sync.WaitGroup
	running.Go(func() { run(ctx) })
	stop = func() {
		cancel()
		running.Wait()
	}
	b.t.Cleanup(stop)
	return stop
}

// controllers is the list of everything that runs.
var controllers = []controller.Setup{
	clusterupgrade.Setup, nodeupgrade.Setup, orphan.Setup, clusterrelease.Setup, component.Setup, etcdbackup.Setup, metrics.Setup, traces.Setup,
	upgradeschedule.Setup,
}

// controllers runs the controllers in this process.
func (b *bed) controllers() (stop func()) {
	b.t.Helper()
	said := b.saying()
	config := b.config
	return b.beside(func(ctx context.Context) {
		log := slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelWarn}))
		if err := controller.Run(ctx, controller.Options{Config: config, Log: log, Controllers: controllers}); err != nil {
			b.t.Errorf("the controllers ended: %v", err)
		}
	})
}

// saying returns the writer for a controller's log. Its last lines are printed if the test fails.
func (b *bed) saying() *said {
	s := &said{}
	b.t.Cleanup(func() {
		if b.t.Failed() {
			b.t.Logf("the end of what a controller said: %s", s.end())
		}
	})
	return s
}

// said is the tail of a log.
type said struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer.
func (s *said) Write(text []byte) (int, error) {
	const most = 4000
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, text...)
	s.text = s.text[max(0, len(s.text)-most):]
	return len(text), nil
}

func (s *said) end() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.text)
}

type change func(*refitv1alpha1.ClusterUpgrade)

// withoutBackup is the waiver of upgrades that take no backup.
var withoutBackup = []refitv1alpha1.Waiver{{Check: policy.CheckBackup, Reason: "the test is about something else"}}

// upgrade creates an upgrade that needs no approval and takes no backup.
func (b *bed) upgrade(name string, changes ...change) *refitv1alpha1.ClusterUpgrade {
	b.t.Helper()
	operation := &refitv1alpha1.ClusterUpgrade{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: to}, Approval: refitv1alpha1.ApprovalNone, Waivers: withoutBackup},
	}
	for _, change := range changes {
		change(operation)
	}
	must(b.t, b.client.Create(b.t.Context(), operation))
	return operation
}

// says changes the spec of the operation, as a user does.
func (b *bed) says(spec string) {
	b.t.Helper()
	operation := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: op}}
	must(b.t, b.client.Patch(b.t.Context(), operation, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec+`}`))))
}

// until waits until an operation meets a condition.
func (b *bed) until(name, what string, is func(*refitv1alpha1.ClusterUpgrade) bool) *refitv1alpha1.ClusterUpgrade {
	b.t.Helper()
	operation := &refitv1alpha1.ClusterUpgrade{}
	b.wait(fmt.Sprintf("%s %s", name, what), func() (bool, string) {
		err := b.client.Get(b.t.Context(), types.NamespacedName{Name: name}, operation)
		if apierrors.IsNotFound(err) {
			b.t.Fatalf("there is no %s", name)
		}
		must(b.t, err)
		return is(operation), fmt.Sprintf("%s: %s (active %v, %+v, failures %+v)", operation.Status.Phase, operation.Status.Message, operation.Status.Active,
			operation.Status.Nodes, operation.Status.Failures)
	})
	return operation
}

// wait polls until a condition holds. After the timeout, the test fails and prints the current
// state.
func (b *bed) wait(what string, is func() (bool, string)) {
	b.t.Helper()
	said := ""
	for deadline := time.Now().Add(checkTimeout); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		ok, now := is()
		if ok {
			return
		}
		said = now
	}
	b.t.Fatalf("it did not come about that %s; it is %s", what, said)
}

func phase(wanted ...refitv1alpha1.Phase) func(*refitv1alpha1.ClusterUpgrade) bool {
	return func(o *refitv1alpha1.ClusterUpgrade) bool { return slices.Contains(wanted, o.Status.Phase) }
}

// withoutFinalizers is a patch that removes the finalizers of an object.
var withoutFinalizers = client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))

// idle reports whether no node is active.
func idle(o *refitv1alpha1.ClusterUpgrade) bool { return len(o.Status.Active) == 0 }

// order returns the NodeUpgrade of a node, empty if there is none.
func (b *bed) order(node string) *refitv1alpha1.NodeUpgrade {
	b.t.Helper()
	u := &refitv1alpha1.NodeUpgrade{}
	must(b.t, client.IgnoreNotFound(b.client.Get(b.t.Context(), types.NamespacedName{Name: node}, u)))
	return u
}

func (b *bed) node(name string) *corev1.Node {
	b.t.Helper()
	n := &corev1.Node{}
	must(b.t, b.client.Get(b.t.Context(), types.NamespacedName{Name: name}, n))
	return n
}

func (b *bed) nodes() []corev1.Node {
	b.t.Helper()
	var list corev1.NodeList
	must(b.t, b.client.List(b.t.Context(), &list))
	return list.Items
}

// atRest requires that no cordon of Refit is left, that exactly these nodes are at the target, and
// that the monitors have seen no violation.
func (b *bed) atRest(atTarget ...string) {
	b.t.Helper()
	for _, n := range b.nodes() {
		if mark := n.Annotations[refitv1alpha1.AnnotationCordonedBy]; mark != "" {
			b.t.Errorf("%s is marked as cordoned by %s", n.Name, mark)
		}
		if left := protection(&n); left != b.protected[n.Name] {
			b.t.Errorf("autoscalers find %q on %s, want %q", left, n.Name, b.protected[n.Name])
		}
		if n.Spec.Unschedulable != b.foreign[n.Name] {
			b.t.Errorf("whether %s is cordoned: %v", n.Name, n.Spec.Unschedulable)
		}
		if at := n.Status.NodeInfo.KubeletVersion; (at == to) != slices.Contains(atTarget, n.Name) {
			b.t.Errorf("%s is at %s", n.Name, at)
		}
	}
	b.watch.verdict()
}

var (
	controlPlane = []string{"cp-1", "cp-2", "cp-3"}
	workers      = []string{"worker-1", "worker-2", "worker-3", "worker-4"}
	everyNode    = slices.Concat(controlPlane, workers)
)

// cordonByHand cordons a node, as a user does.
func (b *bed) cordonByHand(name string) {
	b.t.Helper()
	b.foreign[name] = true
	b.patchNode(name, `{"spec":{"unschedulable":true}}`)
}

func (b *bed) patchNode(name, patch string) {
	b.t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	must(b.t, b.client.Patch(b.t.Context(), n, client.RawPatch(types.MergePatchType, []byte(patch))))
}
