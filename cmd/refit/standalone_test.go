package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/controller"
)

// Controllers elsewhere stay the leader: the error names the leader, nothing starts, and the
// controllers of this process end.
func TestStandaloneThatNeverLeads(t *testing.T) {
	s := newSite(t)
	s.without(t)
	synctest.Test(t, func(t *testing.T) {
		s.Now = time.Now
		if err := s.Create(t.Context(), held("laptop_1", time.Now())); err != nil {
			t.Fatal(err)
		}
		ended := false
		s.controllers = func(ctx context.Context, _ controller.Options) error {
			<-ctx.Done()
			ended = true
			return nil
		}
		c := &connection{Cluster: s.operations(s.WithWatch, "prod"), config: &rest.Config{}}
		_, err := s.standalone(t.Context(), c, "")
		if err == nil || !strings.Contains(err.Error(), "laptop leads the controllers of prod") || !ended {
			t.Errorf("%v, ended %v", err, ended)
		}
	})
}

// A user who interrupts before leader election completes leaves an operation in progress. The
// message has the command to continue it.
func TestStandaloneInterruptedBeforeItLeads(t *testing.T) {
	s := newSite(t)
	s.without(t)
	s.operation(t, "to-v1-36-3")
	ctx, leave := context.WithCancel(t.Context())
	s.controllers = func(ctx context.Context, _ controller.Options) error {
		leave()
		<-ctx.Done()
		return nil
	}
	code := run(ctx, s.app, []string{"upgrade", "--to", "v1.36.3", "--standalone", "--kubeconfig", s.kubeconfig})
	said := s.err.String()
	if code != exit.Interrupted || !strings.Contains(said, "to-v1-36-3 is still in progress. To follow it again: refit upgrade --to v1.36.3 --standalone") ||
		strings.Contains(said, "nothing was changed") {
		t.Errorf("%d: %s", code, said)
	}
}

// Ctrl-C in standalone mode ends the controllers first, then prints what remains.
func TestStandaloneInterrupted(t *testing.T) {
	s := newSite(t)
	s.without(t)
	s.operation(t, "op", func(u *refitv1alpha1.ClusterUpgrade) { u.Status.Active = []string{"worker-1", "worker-2"} })
	u := s.get(t, "op")
	for node, permit := range map[string]refitv1alpha1.Permit{"worker-1": refitv1alpha1.PermitApply, "worker-2": refitv1alpha1.PermitPrefetch} {
		order := &refitv1alpha1.NodeUpgrade{ObjectMeta: metav1.ObjectMeta{Name: node}}
		order.Spec.Operation.UID, order.Spec.Permit = u.UID, permit
		if err := s.Create(t.Context(), order); err != nil {
			t.Fatal(err)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := false
	s.controllers = func(ctx context.Context, o controller.Options) error {
		o.OnStartedLeading()
		<-ctx.Done()
		ended = true
		return nil
	}
	s.Out = writerFunc(func(p []byte) (int, error) {
		if strings.Contains(string(p), "worker-2") {
			interrupt()
		}
		return len(p), nil
	})
	code := run(ctx, s.app, []string{"upgrade", "--to", "v1.36.3", "--standalone", "--kubeconfig", s.kubeconfig})
	if code != exit.Interrupted || !ended {
		t.Errorf("exit code %d, ended %v: %s", code, ended, s.err)
	}
	for _, want := range []string{
		"op does not proceed: nothing further starts.", "worker-1: the host completes its upgrade", "worker-2: partly drained",
		"To continue: refit upgrade --to v1.36.3 --standalone --kubeconfig " + s.kubeconfig,
	} {
		if !strings.Contains(s.err.String(), want) {
			t.Errorf("it does not say %q: %s", want, s.err)
		}
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
