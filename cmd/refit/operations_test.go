package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/controller"
	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// site is a cluster that can be upgraded, with a client that keeps its objects in memory, and a
// command line that uses it.
type site struct {
	*line
	client.WithWatch
	kubeconfig string
}

// newSite is a healthy cluster with controllers, whose checks return the given findings.
func newSite(t *testing.T, findings ...preflight.Finding) *site {
	t.Helper()
	l, kubeconfig := withCluster(t, nil)
	s := &site{line: l, kubeconfig: kubeconfig}
	s.WithWatch = operationstest.NewClient(t, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: controller.Namespace, Name: controller.Name}, Status: appsv1.DeploymentStatus{AvailableReplicas: 1},
	})
	s.client = func(*rest.Config) (client.WithWatch, error) { return s.WithWatch, nil }
	s.preflight = newLine(t, findings...).preflight
	s.observe = func(context.Context, *rest.Config, func(string)) (*cluster.Snapshot, error) { return shop(), nil }
	return s
}

// refit runs a command until it ends. It interrupts a command that would never end.
func (s *site) refit(t *testing.T, args ...string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	return run(ctx, s.app, append(args, "--kubeconfig", s.kubeconfig))
}

func (s *site) operation(t *testing.T, name string, change ...func(*refitv1alpha1.ClusterUpgrade)) {
	t.Helper()
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(clustertest.Now)}}
	u.Spec.Target.Kubernetes = "v1.36.3"
	for _, c := range change {
		c(u)
	}
	if err := s.Create(t.Context(), u.DeepCopy()); err != nil {
		t.Fatal(err)
	}
}

func (s *site) get(t *testing.T, name string) *refitv1alpha1.ClusterUpgrade {
	t.Helper()
	u := &refitv1alpha1.ClusterUpgrade{}
	if err := s.Get(t.Context(), client.ObjectKey{Name: name}, u); err != nil {
		t.Fatal(err)
	}
	return u
}

// all names all operations.
func (s *site) all(t *testing.T) []string {
	t.Helper()
	var list refitv1alpha1.ClusterUpgradeList
	if err := s.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	return request.Names(list.Items)
}

func ended(u *refitv1alpha1.ClusterUpgrade) {
	u.Status.Phase = refitv1alpha1.PhaseSucceeded
	meta.SetStatusCondition(&u.Status.Conditions, metav1.Condition{
		Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: refitv1alpha1.ReasonSucceeded, LastTransitionTime: metav1.NewTime(clustertest.Now),
	})
}

// succeeds completes every new operation, as the controllers would.
func (s *site) succeeds(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := s.Watch(ctx, &refitv1alpha1.ClusterUpgradeList{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range stream.ResultChan() {
			if u, ok := event.Object.(*refitv1alpha1.ClusterUpgrade); ok && !u.HasEnded() {
				ended(u)
				if err := s.Status().Update(ctx, u); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		stream.Stop()
		<-done
	})
}

// held is a Lease that controllers hold.
func held(by string, renewed time.Time) *coordinationv1.Lease {
	at := metav1.NewMicroTime(renewed)
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: controller.Namespace, Name: controller.Name}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &by, RenewTime: &at},
	}
}

// A user who follows an upgrade again during the upgrade of the only control plane node finds no
// API server.
func TestWatchKeepsTryingWhileTheAPIServerIsDown(t *testing.T) {
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	l := newLine(t)
	code := l.run(t, "watch", "--timeout", "100ms", "--kubeconfig", kubeconfigFor(t, down.URL))
	if code != 4 || !strings.Contains(l.err.String(), "The command keeps trying\n") {
		t.Errorf("exit code %d: %s", code, l.err)
	}
}
