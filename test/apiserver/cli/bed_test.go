//go:build apiserver

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/apiserver"
)

const (
	config       = "../../../config/"
	checkTimeout = 30 * time.Second
	hash         = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	another      = "sha256:fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
)

var program string

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(build(m))
}

// build builds the binary that the tests run.
func build(m *testing.M) int {
	folder, err := os.MkdirTemp("", "refit-cli")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	program = filepath.Join(folder, "refit")
	if out, err := exec.Command("go", "build", "-o", program, "../../../cmd/refit").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building refit: %v\n%s", err, out)
		return 1
	}
	return apiserver.Main(m)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bed is a server with Refit's CRDs, policies and roles, and no operation.
type bed struct {
	*apiserver.Server
	client.Client
	kubeconfig string
}

var installed sync.Once

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{Server: apiserver.Shared(t, apiserver.Options{})}
	installed.Do(func() {
		for _, folder := range []string{"crd", "policy", "rbac"} {
			b.Install(t, config+folder)
		}
	})
	b.Client = clientOf(t, b.Server)
	b.kubeconfig = b.Kubeconfig(t, b.RESTConfig())
	for _, kind := range []client.Object{&refitv1alpha1.ClusterUpgrade{}, &refitv1alpha1.NodeUpgrade{}, &refitv1alpha1.NodeReport{}, &corev1.Node{}} {
		b.deleteAll(t, kind) // of the previous test
	}
	return b
}

// apart returns a bed with a server of its own, without Refit, which the test may stop.
func (b *bed) apart(t *testing.T) *bed {
	t.Helper()
	other := &bed{Server: apiserver.Start(t, apiserver.Options{})}
	var err error
	other.Client, err = client.New(other.RESTConfig(), client.Options{Scheme: b.Scheme()})
	must(t, err)
	other.kubeconfig = other.Kubeconfig(t, other.RESTConfig())
	return other
}

// deleteAll deletes all objects of a kind. The first request for a CRD is repeated: an API server
// that has just started can leave one without an answer until its timeout of a minute.
func (b *bed) deleteAll(t *testing.T, kind client.Object) {
	t.Helper()
	const attempts, patience = 3, 10 * time.Second
	var err error
	for range attempts {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err = b.DeleteAllOf(ctx, kind)
		cancel()
		if err == nil {
			return
		}
	}
	t.Fatal(err)
}

// clientOf returns a client of a server with all permissions.
func clientOf(t *testing.T, s *apiserver.Server) client.Client {
	t.Helper()
	kinds := runtime.NewScheme()
	must(t, clientgoscheme.AddToScheme(kinds))
	must(t, refitv1alpha1.AddToScheme(kinds))
	out, err := client.New(s.RESTConfig(), client.Options{Scheme: kinds})
	must(t, err)
	return out
}

// answer is the result of a command.
type answer struct {
	code     int
	out, err string
}

// refit runs a command to completion.
func (b *bed) refit(t *testing.T, args ...string) answer {
	t.Helper()
	return b.start(t, args...).wait(t)
}

// running is a command that has not exited.
type running struct {
	*exec.Cmd
	mu       sync.Mutex
	out, err bytes.Buffer
}

func (r *running) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(p)
}

func (r *running) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.String()
}

func (b *bed) start(t *testing.T, args ...string) *running {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
	t.Cleanup(cancel)
	r := &running{Cmd: exec.CommandContext(ctx, program, append(args, "--kubeconfig", b.kubeconfig)...)}
	r.Stdout, r.Stderr = r, &r.err
	must(t, r.Start())
	return r
}

func (r *running) wait(t *testing.T) answer {
	t.Helper()
	err := r.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", r.Args, err)
	}
	return answer{r.ProcessState.ExitCode(), r.said(), r.err.String()}
}

// until waits for the command to print a text.
func (r *running) until(t *testing.T, text string) {
	t.Helper()
	r.untilTimes(t, text, 1)
}

// untilTimes waits for the command to print a text several times.
func (r *running) untilTimes(t *testing.T, text string, times int) {
	t.Helper()
	for end := time.Now().Add(checkTimeout); strings.Count(r.said(), text) < times; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never says %q, but\n%s\n%s", text, r.said(), r.err.String())
		}
	}
}

func (a answer) want(t *testing.T, code int, says ...string) {
	t.Helper()
	if a.code != code {
		t.Errorf("exit code %d, want %d", a.code, code)
	}
	said := strings.Join(strings.Fields(a.out+" "+a.err), " ") // lines are wrapped
	for _, text := range says {
		if !strings.Contains(said, text) {
			t.Errorf("it does not say %q", text)
		}
	}
	if t.Failed() {
		t.Fatalf("it says\n%s\n%s", a.out, a.err)
	}
}

// operation creates an operation with a plan for a control plane node and two workers.
func (b *bed) operation(t *testing.T, name string, change ...func(*refitv1alpha1.ClusterUpgrade)) *refitv1alpha1.ClusterUpgrade {
	t.Helper()
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name}}
	u.Spec.Target.Kubernetes = "v1.36.3"
	must(t, b.Create(t.Context(), u))
	b.status(t, name, append([]func(*refitv1alpha1.ClusterUpgrade){func(u *refitv1alpha1.ClusterUpgrade) {
		u.Status.Phase, u.Status.Message = refitv1alpha1.PhaseRunning, "Draining worker-1: 2 pods have to move"
		u.Status.Nodes = refitv1alpha1.NodeCounts{Total: 3, Done: 1}
		u.Status.Active = []string{"worker-1"}
		u.Status.ObservedGeneration = u.Generation
		u.Status.Plan = &refitv1alpha1.PlanSummary{
			Hash: hash, From: "v1.35.4", To: "v1.36.3", Estimate: metav1.Duration{Duration: 5 * time.Minute},
			Hops: []refitv1alpha1.Hop{{Kubernetes: "v1.36.3", Release: refitv1alpha1.ReleaseRef{Name: "kubernetes-v1.36.3", Digest: hash}}},
			Stages: []refitv1alpha1.StageSummary{
				{Name: refitv1alpha1.StagePrefetch, Kubernetes: "v1.36.3", Total: 3, Done: 3},
				{Name: refitv1alpha1.StageControlPlane, Kubernetes: "v1.36.3", Total: 1, Done: 1},
				{Name: refitv1alpha1.StageWorkers, Kubernetes: "v1.36.3", Total: 2},
				{Name: refitv1alpha1.StageVerify, Kubernetes: "v1.36.3"},
			},
		}
	}}, change...)...)
	return b.get(t, name)
}

// status writes the status of an operation, as controllers do.
func (b *bed) status(t *testing.T, name string, change ...func(*refitv1alpha1.ClusterUpgrade)) {
	t.Helper()
	u := b.get(t, name)
	for _, c := range change {
		c(u)
	}
	must(t, b.Status().Update(t.Context(), u))
}

func (b *bed) get(t *testing.T, name string) *refitv1alpha1.ClusterUpgrade {
	t.Helper()
	u := &refitv1alpha1.ClusterUpgrade{}
	must(t, b.Get(t.Context(), client.ObjectKey{Name: name}, u))
	return u
}

// ended sets the status of a completed operation.
func ended(phase refitv1alpha1.Phase) func(*refitv1alpha1.ClusterUpgrade) {
	return func(u *refitv1alpha1.ClusterUpgrade) {
		u.Status.Phase, u.Status.Active, u.Status.Message = phase, nil, ""
		status, reason := metav1.ConditionFalse, refitv1alpha1.ReasonAborted
		if phase == refitv1alpha1.PhaseSucceeded {
			u.Status.Nodes.Done = u.Status.Nodes.Total
			status, reason = metav1.ConditionTrue, refitv1alpha1.ReasonSucceeded
		}
		meta.SetStatusCondition(&u.Status.Conditions, metav1.Condition{Type: refitv1alpha1.ConditionReady, Status: status, Reason: reason, Message: reason})
		meta.SetStatusCondition(&u.Status.Conditions, metav1.Condition{Type: refitv1alpha1.ConditionReconciling, Status: metav1.ConditionFalse, Reason: reason, Message: reason})
	}
}

// order creates the NodeUpgrade of an operation for a node.
func (b *bed) order(t *testing.T, node string, u *refitv1alpha1.ClusterUpgrade, permit refitv1alpha1.Permit, status refitv1alpha1.NodeUpgradeStatus) {
	t.Helper()
	n := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: node}}
	n.Spec = refitv1alpha1.NodeUpgradeSpec{
		Format: 1, Operation: refitv1alpha1.Operation{Name: u.Name, UID: u.UID}, NodeUID: "uid", MachineID: strings.Repeat("a", 32), Sequence: 1, Epoch: 1,
		Role: refitv1alpha1.RoleWorker, Release: refitv1alpha1.ReleaseRef{Name: "kubernetes-v1.36.3", Digest: hash}, Permit: permit,
	}
	must(t, b.Create(t.Context(), n))
	n.Status = status
	n.Status.ObservedSequence = 1
	must(t, b.Status().Update(t.Context(), n))
}

func (b *bed) node(t *testing.T, name string, change ...func(*corev1.Node)) {
	t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/os": "linux"}}}
	n.Status.NodeInfo.KubeletVersion, n.Status.NodeInfo.ContainerRuntimeVersion = "v1.35.4", "containerd://2.4.2"
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	for _, c := range change {
		c(n)
	}
	status := n.Status
	must(t, b.Create(t.Context(), n))
	n.Status = status
	must(t, b.Status().Update(t.Context(), n))
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return out
}

// as returns a bed for a user with only this role.
func (b *bed) as(t *testing.T, user string) *bed {
	t.Helper()
	other := *b
	other.kubeconfig = b.Kubeconfig(t, b.As(t, user))
	return &other
}
