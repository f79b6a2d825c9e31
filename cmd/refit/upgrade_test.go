package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/terminal/terminaltest"
	"github.com/refit-dev/refit/internal/controller"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// A whole upgrade: the plan is shown, an operation is created with that plan approved, and the
// command follows it.
func TestUpgrade(t *testing.T) {
	s := newSite(t)
	s.succeeds(t)
	if code := s.refit(t, "upgrade", "--to", "v1.36.3", "--yes"); code != 0 {
		t.Fatalf("exit code %d: %s\n%s", code, s.err, s.out)
	}
	made := s.get(t, "to-v1-36-3")
	if !strings.Contains(s.out.String(), made.Spec.ApprovedPlan) || !request.IsPlanHash(made.Spec.ApprovedPlan) {
		t.Errorf("it approved %q, and shows\n%s", made.Spec.ApprovedPlan, s.out)
	}
	if made.Spec.Approval == refitv1alpha1.ApprovalNone {
		t.Error("a plan that changes would be carried out unseen")
	}
	for _, want := range []string{"Plan for prod: Kubernetes v1.35.4 → v1.36.3", "Operation to-v1-36-3: upgrade of prod to v1.36.3", "Succeeded"} {
		if !strings.Contains(s.out.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, s.out)
		}
	}
	if strings.Contains(s.out.String(), "Next") {
		t.Errorf("it tells what to type, and does it itself:\n%s", s.out)
	}
}

func TestUpgradeThatStartsNothing(t *testing.T) {
	waits := preflight.Finding{Check: "AgentMissing", Severity: preflight.Block, Deferred: true, Message: "there is no agent yet"}
	for name, c := range map[string]struct {
		args    []string
		finding *preflight.Finding
		change  func(*site)
		code    int
		says    string
	}{
		"blocked":                  {[]string{"--to", "v1.36.3", "--yes"}, &blocks, nil, 3, "1 finding blocks"},
		"waits for an agent":       {[]string{"--to", "v1.36.3", "--yes"}, &waits, nil, 3, "there is no agent yet"},
		"nobody to ask":            {[]string{"--to", "v1.36.3"}, nil, nil, 2, "use --yes"},
		"nothing to do":            {[]string{"--to", "v1.35.4", "--yes"}, nil, nil, 0, "Nothing to upgrade: prod is at v1.35.4 already."},
		"no controllers":           {[]string{"--to", "v1.36.3", "--yes"}, nil, func(s *site) { s.without(t) }, 1, "there are no controllers in prod. Run `refit install`"},
		"log without standalone":   {[]string{"--to", "v1.36.3", "--log", "x"}, nil, nil, 2, "--log requires --standalone"},
		"standalone beside them":   {[]string{"--to", "v1.36.3", "--yes", "--standalone"}, nil, nil, 1, "Run the command without --standalone"},
		"another plan is approved": {[]string{"-f", "-", "--yes"}, nil, func(s *site) { s.In = strings.NewReader(approvesAnother) }, 2, "omit approvedPlan"},
		"other waivers":            {[]string{"--to", "v1.36.3", "--yes", "--waive", "SwapOn=known"}, nil, func(s *site) { s.operation(t, "running") }, 2, "in progress with other waivers"},
		"other pools":              {[]string{"--to", "v1.36.3", "--yes", "--max-unavailable", "2"}, nil, func(s *site) { s.operation(t, "running") }, 2, "in progress with other pools"},
		"time that is none":        {[]string{"--to", "v1.36.3", "--timeout", "-1s"}, nil, nil, 2, "--timeout"},
		"a name that is in use":    {[]string{"--to", "v1.36.3", "--yes", "--name", "old"}, nil, func(s *site) { s.operation(t, "old", ended) }, 2, "choose another --name"},
		"standalone, controllers die": {[]string{"--to", "v1.36.3", "--yes", "--standalone"}, nil, func(s *site) {
			s.without(t)
			s.controllers = func(context.Context, controller.Options) error { return errors.New("no rights") }
		}, 1, "cannot run the controllers: no rights"},
	} {
		t.Run(name, func(t *testing.T) {
			var findings []preflight.Finding
			if c.finding != nil {
				findings = append(findings, *c.finding)
			}
			s := newSite(t, findings...)
			if c.change != nil {
				c.change(s)
			}
			before := s.all(t)
			if code := s.refit(t, append([]string{"upgrade"}, c.args...)...); code != c.code || !strings.Contains(s.out.String()+s.err.String(), c.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s\n%s", code, c.code, c.says, s.err, s.out)
			}
			if after := s.all(t); !slices.Equal(before, after) {
				t.Errorf("it began %v", after)
			}
		})
	}
}

const approvesAnother = `apiVersion: refit.dev/v1alpha1
kind: ClusterUpgrade
metadata: {name: x}
spec: {target: {kubernetes: v1.36.3}, approvedPlan: "sha256:0000000000000000000000000000000000000000000000000000000000000000"}
`

// without removes the controllers.
func (s *site) without(t *testing.T) {
	t.Helper()
	if err := s.DeleteAllOf(t.Context(), &appsv1.Deployment{}, client.InNamespace(controller.Namespace)); err != nil {
		t.Fatal(err)
	}
}

// A second upgrade that differs waits for the first one, and gets its own name.
func TestUpgradesBesideOthers(t *testing.T) {
	s := newSite(t)
	s.operation(t, "to-v1-36-3", ended)
	s.operation(t, "workers", func(u *refitv1alpha1.ClusterUpgrade) { u.Spec.Scope = refitv1alpha1.ScopeWorkers })
	s.operation(t, "given-up", func(u *refitv1alpha1.ClusterUpgrade) { u.Spec.Aborted = true })
	s.succeeds(t)
	if code := s.refit(t, "upgrade", "--to", "v1.36.3", "--yes"); code != 0 {
		t.Fatalf("exit code %d: %s", code, s.err)
	}
	if all := s.all(t); !slices.Contains(all, "to-v1-36-3-2") || len(all) != 4 {
		t.Errorf("%v", all)
	}
	if !strings.Contains(s.err.String(), "This upgrade waits for older operations: given-up, workers\n") {
		t.Errorf("it does not say that it waits: %s", s.err)
	}
}

// A user without permission to approve plans creates an upgrade that waits for approval.
func TestUpgradeWithoutPermissionToApprove(t *testing.T) {
	s := newSite(t)
	s.succeeds(t)
	s.WithWatch = interceptor.NewClient(s.WithWatch, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if u, ok := object.(*refitv1alpha1.ClusterUpgrade); ok && u.Spec.ApprovedPlan != "" {
				return apierrors.NewForbidden(refitv1alpha1.GroupVersion.WithResource("clusterupgrades").GroupResource(), u.Name, errors.New("may not approve"))
			}
			return c.Create(ctx, object, options...)
		},
	})
	if code := s.refit(t, "upgrade", "--to", "v1.36.3", "--yes"); code != 0 {
		t.Fatalf("exit code %d: %s", code, s.err)
	}
	if got := s.get(t, "to-v1-36-3").Spec.ApprovedPlan; got != "" || !strings.Contains(s.err.String(), "waits for `refit approve to-v1-36-3 --plan sha256:") {
		t.Errorf("approved %q: %s", got, s.err)
	}
}

// On a terminal, the user is prompted, and only yes confirms.
func TestUpgradePrompts(t *testing.T) {
	for said, want := range map[string]struct {
		code  int
		begun int
	}{"yes\n": {0, 1}, "no\n": {1, 0}, "\n": {1, 0}} {
		t.Run(strings.TrimSpace(said), func(t *testing.T) {
			s := newSite(t)
			s.succeeds(t)
			keys, in := terminaltest.Open(t)
			s.In = in
			if _, err := keys.WriteString(said); err != nil {
				t.Fatal(err)
			}
			if code := s.refit(t, "upgrade", "--to", "v1.36.3"); code != want.code || len(s.all(t)) != want.begun {
				t.Errorf("exit code %d and operations %v: %s", code, s.all(t), s.err)
			}
			if !strings.Contains(s.err.String(), "Upgrade prod to v1.36.3 with this plan? Type yes to continue:") {
				t.Errorf("it asks %q", s.err)
			}
		})
	}
}

// A whole standalone upgrade: the controllers become the leader before anything starts, and end
// after they have removed their finalizer from the completed operation.
func TestStandaloneRunsTheControllers(t *testing.T) {
	s := newSite(t)
	s.without(t)
	var story []string
	s.controllers = func(ctx context.Context, o controller.Options) error {
		stream, err := s.Watch(ctx, &refitv1alpha1.ClusterUpgradeList{})
		if err != nil {
			return err
		}
		defer stream.Stop()
		story = append(story, fmt.Sprintf("led with %d operations", len(s.all(t))))
		o.OnStartedLeading()
		for {
			select {
			case <-ctx.Done():
				story = append(story, "ended")
				return nil
			case event := <-stream.ResultChan():
				u, ok := event.Object.(*refitv1alpha1.ClusterUpgrade)
				if !ok {
					return errors.New("the watch ended")
				}
				story = append(story, s.carryOn(ctx, t, u)...)
			}
		}
	}
	if code := s.refit(t, "upgrade", "--to", "v1.36.3", "--yes", "--standalone", "--log", file(t, "log", "")); code != 0 {
		t.Fatalf("exit code %d: %s", code, s.err)
	}
	if got := strings.Join(story, ", "); got != "led with 0 operations, held, succeeded, let go, ended" {
		t.Error(got)
	}
}

// carryOn acts as the controllers do, a step at a time: it adds the finalizer, completes the
// operation, and removes the finalizer.
func (s *site) carryOn(ctx context.Context, t *testing.T, u *refitv1alpha1.ClusterUpgrade) (did []string) {
	t.Helper()
	var err error
	switch held := len(u.Finalizers) > 0; {
	case !u.HasEnded() && !held:
		u.Finalizers = []string{"refit.dev/operation"}
		did, err = []string{"held"}, s.Update(t.Context(), u)
	case !u.HasEnded():
		ended(u)
		did, err = []string{"succeeded"}, s.Status().Update(t.Context(), u)
	case held:
		select {
		case <-ctx.Done():
			return []string{"cut off"}
		case <-time.After(5 * 100 * time.Millisecond): // long enough for a follower to observe it
		}
		u.Finalizers = nil
		did, err = []string{"let go"}, s.Update(t.Context(), u)
	}
	if err != nil {
		t.Error(err)
	}
	return did
}

// Separate commands change the waivers and pools of an operation in progress.
func TestWaiveAndSetPool(t *testing.T) {
	s := newSite(t)
	s.operation(t, "running")
	if err := s.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}}); err != nil {
		t.Fatal(err)
	}
	if code := s.refit(t, "waive", "SwapOn/Node worker-1=known", "running"); code != 0 || !strings.Contains(s.out.String(), "`refit approve running`") {
		t.Fatalf("exit code %d: %s%s", code, s.err, s.out)
	}
	if code := s.refit(t, "set", "pool", "default", "--max-unavailable", "10%"); code != 0 {
		t.Fatalf("exit code %d: %s", code, s.err)
	}
	spec := s.get(t, "running").Spec
	if len(spec.Waivers) != 1 || spec.Waivers[0].Object != "Node worker-1" || len(spec.Pools) != 1 || spec.Pools[0].MaxUnavailable.String() != "10%" {
		t.Errorf("%+v", spec)
	}
	for _, wrong := range [][]string{
		{"waive"}, {"waive", "SwapOff=x"}, {"waive", "DiskTooSmall/worker-1=x"}, {"waive", "DiskTooSmall/Node nosuch=x"}, {"set", "pool", "default"}, {"set", "pool", "default", "--max-unavailable", "0"},
	} {
		if code := s.refit(t, wrong...); code != 2 {
			t.Errorf("%v: exit code %d", wrong, code)
		}
	}
}
