package main

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/controller"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

// heard writes down what it is told, and does what a test wants then.
type heard struct {
	all  []cliv1alpha1.Operation
	then func(o *cliv1alpha1.Operation)
}

func (h *heard) tell(o *cliv1alpha1.Operation, _ time.Time) error {
	h.all = append(h.all, *o)
	h.then(o)
	return nil
}

// An API that goes away for a while in the midst of a watch: it is told since when, and what happened meanwhile is told when it is back.
func TestFollowOutlivesTheAPI(t *testing.T) {
	s := newSite(t)
	synctest.Test(t, func(t *testing.T) {
		s.operation(t, "op")
		var away atomic.Bool
		var stream atomic.Pointer[watch.Interface]
		flaky := interceptor.NewClient(s.WithWatch, interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if away.Load() {
					return errors.New("connection refused")
				}
				return c.List(ctx, list, options...)
			},
			Watch: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
				w, err := c.Watch(ctx, list, options...)
				if _, ok := list.(*refitv1alpha1.ClusterUpgradeList); ok {
					stream.Store(&w)
				}
				return w, err
			},
		})
		s.now = time.Now
		begun := time.Now()
		told := &heard{}
		told.then = func(o *cliv1alpha1.Operation) {
			switch {
			case len(told.all) == 1: // it goes away as soon as it was there
				away.Store(true)
				(*stream.Load()).Stop()
			case !o.UnreachableSince.IsZero() && time.Since(begun) > 10*time.Second:
				u := s.get(t, "op")
				ended(u)
				if err := s.Status().Update(t.Context(), u); err != nil {
					t.Error(err)
				}
				away.Store(false)
			}
		}
		f := &follower{operations: &operations{WithWatch: flaky, app: s.app, cluster: "prod"}, name: "op", teller: told}
		last, err := f.follow(t.Context())
		if err != nil || !last.Ended || !last.UnreachableSince.IsZero() {
			t.Fatalf("%+v, %v", last, err)
		}
		if took := time.Since(begun); took > 10*time.Second+askAgainAt+tickEvery {
			t.Errorf("it heard of the end after %s", took)
		}
		seen := 0
		for _, o := range told.all {
			if !o.UnreachableSince.IsZero() {
				seen++
				if o.UnreachableError != "connection refused" || o.UnreachableSince.Sub(begun) > time.Second {
					t.Errorf("away since %s: %s", o.UnreachableSince, o.UnreachableError)
				}
			}
		}
		if seen < 9 {
			t.Errorf("in ten seconds it told only %d times that the API is away", seen)
		}
	})
}

// Controllers that are elsewhere keep the lead: after a while it is said who has it, nothing is begun, and ours end.
func TestStandaloneThatNeverLeads(t *testing.T) {
	s := newSite(t)
	s.without(t)
	synctest.Test(t, func(t *testing.T) {
		s.now = time.Now
		if err := s.Create(t.Context(), held("laptop_1", time.Now())); err != nil {
			t.Fatal(err)
		}
		ended := false
		s.controllers = func(ctx context.Context, _ controller.Options) error {
			<-ctx.Done()
			ended = true
			return nil
		}
		o := &operations{WithWatch: s.WithWatch, app: s.app, cluster: "prod", config: &rest.Config{}}
		_, err := o.standalone(t.Context(), "")
		if err == nil || !strings.Contains(err.Error(), "laptop carries upgrades out in prod") || !ended {
			t.Errorf("%v, ended %v", err, ended)
		}
	})
}

// Who leaves before the lead is got leaves an operation that is under way, and is told how to go on.
func TestStandaloneThatIsLeftBeforeItLeads(t *testing.T) {
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
	if code != exitInterrupted || !strings.Contains(said, "to-v1-36-3 is under way as before. To go on: refit upgrade --to v1.36.3 --standalone") ||
		strings.Contains(said, "nothing was changed") {
		t.Errorf("%d: %s", code, said)
	}
}

// On a terminal each frame is drawn over the one before, and the last one stays.
func TestLiveView(t *testing.T) {
	read, write := terminal(t)
	l := newLine(t)
	l.app.out = write
	live := newTeller(l.app, formatText)
	o := &cliv1alpha1.Operation{Name: "op", Cluster: "prod", Phase: "Running", To: "v1.36.3", Message: "Draining worker-1", CreatedAt: clustertest.Now}
	for i, phase := range []string{"Running", "Running", "Succeeded"} {
		o.Phase = phase
		o.Ended, o.EndedAt = i == 2, clustertest.Now
		if err := live.tell(o, clustertest.Now); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := write.WriteString("END"); err != nil {
		t.Fatal(err)
	}
	drawn := ""
	for got := make([]byte, 4096); !strings.Contains(drawn, "END"); {
		n, err := read.Read(got)
		if err != nil {
			t.Fatal(err)
		}
		drawn += string(got[:n])
	}
	frames := strings.Split(drawn, "\x1b[4A\r\x1b[J")
	if len(frames) != 2 || !strings.Contains(frames[0], "running") || !strings.Contains(frames[1], "done") {
		t.Errorf("it draws %q", drawn)
	}
}

// Elsewhere there are lines, and JSON where that is asked for: one for each change, none for time that goes by.
func TestTellersElsewhere(t *testing.T) {
	l := newLine(t)
	o := &cliv1alpha1.Operation{Name: "demo", Phase: "Running", CreatedAt: clustertest.Now, LeftSeconds: 9}
	later := *o
	later.LeftSeconds = 8
	for format, first := range map[string]string{formatText: "   0:00  Operation demo", formatJSON: `{"apiVersion":`} {
		l.out.Reset()
		teller := newTeller(l.app, format)
		for _, told := range []*cliv1alpha1.Operation{o, o, &later} {
			if err := teller.tell(told, clustertest.Now); err != nil {
				t.Fatal(err)
			}
		}
		if !strings.HasPrefix(l.out.String(), first) || strings.Count(l.out.String(), "demo") != 1 {
			t.Errorf("%s: %s", format, l.out)
		}
	}
}

// Ctrl-C in standalone ends the controllers first, then says what stays behind.
func TestStandaloneThatIsLeft(t *testing.T) {
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
	s.app.out = writerFunc(func(p []byte) (int, error) {
		if strings.Contains(string(p), "worker-2") {
			interrupt()
		}
		return len(p), nil
	})
	code := run(ctx, s.app, []string{"upgrade", "--to", "v1.36.3", "--standalone", "--kubeconfig", s.kubeconfig})
	if code != exitInterrupted || !ended {
		t.Errorf("exit code %d, ended %v: %s", code, ended, s.err)
	}
	for _, want := range []string{
		"op stands still: nothing more is begun.", "worker-1: the work on the host finishes by itself", "worker-2: half emptied at most",
		"To go on: refit upgrade --to v1.36.3 --standalone --kubeconfig " + s.kubeconfig,
	} {
		if !strings.Contains(s.err.String(), want) {
			t.Errorf("it does not say %q: %s", want, s.err)
		}
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
