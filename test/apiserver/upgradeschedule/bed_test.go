//go:build apiserver

package upgradeschedule

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/controller/upgradeschedule"
	"github.com/refit-dev/refit/internal/upgrade/schedule"
	"github.com/refit-dev/refit/test/apiserver"
)

func TestMain(m *testing.M) { os.Exit(apiserver.Main(m)) }

const (
	running        = "v1.35.4"
	name           = "weekly"
	controllerUser = "system:serviceaccount:refit-system:refit-controller"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bed is a server with a control plane node, whose agent reports its version. All tests use the
// server in turn.
type bed struct {
	*apiserver.Server
	t      *testing.T
	client client.Client // of an administrator
	config *rest.Config  // of the controller
	now    time.Time     // of the controllers
	// created are the times at which ClusterReleases appear to have been created.
	created map[string]time.Time
}

// install installs Refit once: all tests share the server.
var install sync.Once

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{Server: apiserver.Shared(t, apiserver.Options{}), t: t, now: time.Now(), created: map[string]time.Time{}}
	install.Do(func() {
		for _, folder := range []string{"crd", "policy", "agent", "controller", "rbac"} {
			b.Install(t, "../../../config/"+folder)
		}
	})
	b.config = b.As(t, controllerUser)
	b.client = b.clientOf(b.RESTConfig())
	b.empty()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "cp-1", Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}}}
	must(t, b.client.Create(t.Context(), node))
	node.Status.NodeInfo.KubeletVersion, node.Status.NodeInfo.OperatingSystem = running, "linux"
	must(t, b.client.Status().Update(t.Context(), node))
	report := &refitv1alpha1.NodeReport{ObjectMeta: metav1.ObjectMeta{Name: "cp-1"}}
	must(t, b.client.Create(t.Context(), report))
	report.Status.APIServer = &refitv1alpha1.APIServerFacts{Version: running, Ready: true}
	must(t, b.client.Status().Update(t.Context(), report))
	return b
}

// empty removes the objects of the previous test.
func (b *bed) empty() {
	b.t.Helper()
	for _, object := range []client.Object{
		&refitv1alpha1.UpgradeSchedule{}, &refitv1alpha1.ClusterUpgrade{}, &refitv1alpha1.ClusterRelease{}, &refitv1alpha1.NodeReport{}, &corev1.Node{},
	} {
		must(b.t, b.client.DeleteAllOf(b.t.Context(), object))
	}
}

func (b *bed) clientOf(config *rest.Config) client.Client {
	b.t.Helper()
	scheme := runtime.NewScheme()
	must(b.t, clientgoscheme.AddToScheme(scheme))
	must(b.t, refitv1alpha1.AddToScheme(scheme))
	c, err := client.New(config, client.Options{Scheme: scheme})
	must(b.t, err)
	return c
}

// aged is a reader that shows ClusterReleases with other creation times: an API server sets them.
type aged struct {
	client.Reader
	created map[string]time.Time
}

// List implements client.Reader.
func (a aged) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := a.Reader.List(ctx, list, options...)
	if releases, is := list.(*refitv1alpha1.ClusterReleaseList); is {
		for i := range releases.Items {
			if at, known := a.created[releases.Items[i].Name]; known {
				releases.Items[i].CreationTimestamp = metav1.NewTime(at)
			}
		}
	}
	return err
}

// controller returns a controller with the permissions of an installed one.
func (b *bed) controller(config *rest.Config) *upgradeschedule.Reconciler {
	b.t.Helper()
	c := b.clientOf(config)
	r, err := upgradeschedule.New(config, c, aged{c, b.created})
	must(b.t, err)
	r.Now = func() time.Time { return b.now }
	return r
}

// reconcile reconciles a schedule until the controller has nothing to repeat.
func (b *bed) reconcile(r *upgradeschedule.Reconciler) {
	b.t.Helper()
	b.wait("the controller has nothing to do", func() (bool, string) {
		result, err := r.Reconcile(b.t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Name: name}})
		repeats := result.RequeueAfter == time.Second || result.RequeueAfter == 5*time.Second // after it set the slot, and after a start that failed
		return err == nil && !repeats, fmt.Sprintf("%+v, %v, %+v", result, err, b.schedule().Status)
	})
}

// wait polls until a condition holds: admission policies read schedules with a delay.
func (b *bed) wait(what string, is func() (bool, string)) {
	b.t.Helper()
	said := ""
	for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var ok bool
		if ok, said = is(); ok {
			return
		}
	}
	b.t.Fatalf("it did not come about that %s: %s", what, said)
}

// releases creates ClusterReleases. Each is a number of days old.
func (b *bed) releases(days map[string]int) {
	b.t.Helper()
	for version, age := range days {
		payload, err := json.Marshal(refitv1alpha1.ReleasePayload{Kubernetes: version})
		must(b.t, err)
		envelope, err := json.Marshal(map[string]any{
			"payloadType": refitv1alpha1.ReleasePayloadType, "payload": payload, "signatures": []any{map[string]string{"keyid": "k", "sig": "c2ln"}},
		})
		must(b.t, err)
		release := &refitv1alpha1.ClusterRelease{ObjectMeta: metav1.ObjectMeta{Name: "kubernetes-" + version}}
		release.Spec.Kubernetes, release.Spec.Envelope = version, envelope
		must(b.t, b.client.Create(b.t.Context(), release))
		b.created[release.Name] = b.now.Add(-time.Duration(age) * 24 * time.Hour)
	}
}

type change func(*refitv1alpha1.UpgradeSchedule)

// everyMinute creates a schedule that is due in each minute, and has been for an hour.
func (b *bed) everyMinute(changes ...change) {
	b.t.Helper()
	s := &refitv1alpha1.UpgradeSchedule{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.Spec.Cron, s.Spec.Channel.Follow = "* * * * *", refitv1alpha1.FollowPatch
	for _, change := range changes {
		change(s)
	}
	must(b.t, b.client.Create(b.t.Context(), s))
	b.since(s, b.now.Add(-time.Hour))
}

// since makes the starts of a schedule count from a time: it appears to have been created then.
func (b *bed) since(s *refitv1alpha1.UpgradeSchedule, from time.Time) {
	b.t.Helper()
	at := metav1.NewTime(from)
	s.Status.StartsFrom, s.Status.Timing = &at, s.Spec.Cron+" "+s.Spec.TimeZone
	if s.Spec.At != nil {
		s.Status.Timing = s.Spec.At.UTC().Format(time.RFC3339)
	}
	must(b.t, b.client.Status().Update(b.t.Context(), s))
}

// once replaces the cron expression by a single start some time ago.
func (b *bed) once(ago, deadline time.Duration) change {
	return func(s *refitv1alpha1.UpgradeSchedule) {
		at := metav1.NewTime(b.now.Add(-ago).Truncate(time.Second))
		s.Spec.Cron, s.Spec.At, s.Spec.StartingDeadline = "", &at, metav1.Duration{Duration: deadline}
	}
}

func (b *bed) schedule() *refitv1alpha1.UpgradeSchedule {
	b.t.Helper()
	s := &refitv1alpha1.UpgradeSchedule{}
	must(b.t, b.client.Get(b.t.Context(), types.NamespacedName{Name: name}, s))
	return s
}

func (b *bed) operations() []refitv1alpha1.ClusterUpgrade {
	b.t.Helper()
	var list refitv1alpha1.ClusterUpgradeList
	must(b.t, b.client.List(b.t.Context(), &list))
	return list.Items
}

// operation returns the only ClusterUpgrade.
func (b *bed) operation() *refitv1alpha1.ClusterUpgrade {
	b.t.Helper()
	all := b.operations()
	if len(all) != 1 {
		b.t.Fatalf("there are %d ClusterUpgrades, want 1: %+v", len(all), b.schedule().Status)
	}
	return &all[0]
}

// end ends a ClusterUpgrade.
func (b *bed) end(u *refitv1alpha1.ClusterUpgrade) {
	b.t.Helper()
	meta.SetStatusCondition(&u.Status.Conditions, metav1.Condition{
		Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: refitv1alpha1.ReasonSucceeded,
	})
	must(b.t, b.client.Status().Update(b.t.Context(), u))
}

// hasResult requires the result of the last start, and a part of its message.
func (b *bed) hasResult(want refitv1alpha1.StartResult, message string) {
	b.t.Helper()
	if s := b.schedule().Status; s.LastResult != want || !strings.Contains(s.LastMessage, message) {
		b.t.Errorf("the result is %q, %q, want %s, %q: %+v", s.LastResult, s.LastMessage, want, message, s)
	}
}

// refused requires that admission refuses a request, with a part of the reason.
func (b *bed) refused(what string, err error, why string) {
	b.t.Helper()
	if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), why) {
		b.t.Errorf("%s: the server says %v, want %q", what, err, why)
	}
}

// operationOf returns what the controller would create now.
func (b *bed) operationOf(start time.Time) string { return schedule.OperationName(name, start) }
