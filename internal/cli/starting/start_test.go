package starting

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// to is an operation with a target.
func to(version string, changes ...func(*refitv1alpha1.ClusterUpgrade)) refitv1alpha1.ClusterUpgrade {
	u := refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "to-" + version}}
	u.Spec.Target.Kubernetes = version
	for _, change := range changes {
		change(&u)
	}
	return u
}

func waived(reason string) func(*refitv1alpha1.ClusterUpgrade) {
	return func(u *refitv1alpha1.ClusterUpgrade) {
		u.Spec.Waivers = []refitv1alpha1.Waiver{{Check: "DiskTooSmall", Reason: reason}}
	}
}

func TestFlagsAreCheckedTogether(t *testing.T) {
	for situation, c := range map[string]struct {
		starter Starter
		want    string // a part of the error; empty if there is none
	}{
		"no flags":                           {Starter{}, ""},
		"a log of the command's controllers": {Starter{Standalone: true, Log: "refit.log"}, ""},
		"a log of other controllers":         {Starter{Log: "refit.log"}, "--log requires --standalone"},
		"a name":                             {Starter{Name: "to-v1-36-3"}, ""},
		"a name that the API rejects":        {Starter{Name: "To v1.36"}, "--name"},
	} {
		err := c.starter.Check()
		if (c.want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), c.want) || exit.Code(t.Context(), err) != exit.Usage) {
			t.Errorf("%s: %v", situation, err)
		}
	}
}

func TestAnUpgradeInProgressIsFollowed(t *testing.T) {
	aborted := func(u *refitv1alpha1.ClusterUpgrade) { u.Spec.Aborted = true }
	for situation, c := range map[string]struct {
		all       []refitv1alpha1.ClusterUpgrade
		requested refitv1alpha1.ClusterUpgrade
		same      bool
		err       string
	}{
		"the first upgrade":           {nil, to("v1.36.3"), false, ""},
		"the same target":             {[]refitv1alpha1.ClusterUpgrade{to("v1.36.3")}, to("v1.36.3"), true, ""},
		"another target":              {[]refitv1alpha1.ClusterUpgrade{to("v1.36.2")}, to("v1.36.3"), false, ""},
		"the same target, aborted":    {[]refitv1alpha1.ClusterUpgrade{to("v1.36.3", aborted)}, to("v1.36.3"), false, ""},
		"it has the requested waiver": {[]refitv1alpha1.ClusterUpgrade{to("v1.36.3", waived("known"))}, to("v1.36.3", waived("known")), true, ""},
		"it lacks the waiver":         {[]refitv1alpha1.ClusterUpgrade{to("v1.36.3")}, to("v1.36.3", waived("known")), false, "with other waivers"},
	} {
		var notes strings.Builder
		s := &Starter{Notes: &notes, Command: "refit"}
		same, err := s.Same(c.all, &c.requested)
		if (same != nil) != c.same || c.same != strings.Contains(notes.String(), "following it") {
			t.Errorf("%s: %+v %q", situation, same, notes.String())
		}
		if (c.err == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), c.err) || exit.Code(t.Context(), err) != exit.Usage) {
			t.Errorf("%s: %v", situation, err)
		}
	}
}

func TestAPlanThatCannotStart(t *testing.T) {
	ended := func(u *refitv1alpha1.ClusterUpgrade) {
		u.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
	}
	approved := func(hash string) refitv1alpha1.ClusterUpgrade {
		return to("v1.36.3", func(u *refitv1alpha1.ClusterUpgrade) { u.Spec.ApprovedPlan = hash })
	}
	for situation, c := range map[string]struct {
		blocked   bool
		requested refitv1alpha1.ClusterUpgrade
		all       []refitv1alpha1.ClusterUpgrade
		code      int
		notes     string
	}{
		"it may start":                       {false, to("v1.36.3"), nil, exit.Done, ""},
		"a finding blocks it":                {true, to("v1.36.3"), nil, exit.Blocked, ""},
		"the manifest approves it":           {false, approved("sha256:shown"), nil, exit.Done, ""},
		"the manifest approves another plan": {false, approved("sha256:other"), nil, exit.Usage, ""},
		"an older operation is in progress":  {false, to("v1.36.3"), []refitv1alpha1.ClusterUpgrade{to("v1.35.4")}, exit.Done, "waits for older operations: to-v1.35.4"},
		"all operations have ended":          {false, to("v1.36.3"), []refitv1alpha1.ClusterUpgrade{to("v1.35.4", ended)}, exit.Done, ""},
	} {
		var notes strings.Builder
		report := &cliv1alpha1.Report{Blocked: c.blocked, Plan: &cliv1alpha1.Plan{Hash: "sha256:shown"}}
		err := (&Starter{Notes: &notes}).Accept(report, &c.requested, c.all)
		if exit.Code(t.Context(), err) != c.code || !strings.Contains(notes.String(), c.notes) || c.notes == "" && notes.Len() > 0 {
			t.Errorf("%s: %v %q", situation, err, notes.String())
		}
	}
}

// startable answers as a cluster does, and records the names that it was asked for.
type startable struct {
	unapproved bool
	err        error
	preferred  []string
}

func (s *startable) Start(
	_ context.Context, spec refitv1alpha1.ClusterUpgradeSpec, _ string, preferred ...string,
) (*refitv1alpha1.ClusterUpgrade, bool, error) {
	s.preferred = preferred
	if s.err != nil {
		return nil, false, s.err
	}
	started := to(spec.Target.Kubernetes)
	return &started, s.unapproved, nil
}

func TestAnOperationIsStartedUnderTheChosenName(t *testing.T) {
	c, requested := &startable{}, to("v1.36.3")
	started, err := (&Starter{Name: "chosen", Notes: io.Discard}).Start(t.Context(), c, &requested, "sha256:shown")
	if err != nil || started == nil || len(c.preferred) != 2 || c.preferred[0] != "chosen" || c.preferred[1] != requested.Name {
		t.Errorf("%+v %v %q", started, err, c.preferred)
	}
	c.err = request.NameTakenError{Name: "chosen"}
	if _, err := (&Starter{Name: "chosen"}).Start(t.Context(), c, &requested, ""); exit.Code(t.Context(), err) != exit.Usage {
		t.Errorf("a name that is taken: %v", err)
	}
	c.err = errors.New("the API server is unreachable")
	if _, err := (&Starter{}).Start(t.Context(), c, &requested, ""); !errors.Is(err, c.err) {
		t.Errorf("got %v", err)
	}
}

func TestAUserWithoutPermissionToApproveLearnsWhoIsNeeded(t *testing.T) {
	var notes strings.Builder
	s, requested := &Starter{Notes: &notes, Command: "kubectl refit"}, to("v1.36.3")
	if _, err := s.Start(t.Context(), &startable{unapproved: true}, &requested, "sha256:shown"); err != nil {
		t.Fatal(err)
	}
	if want := "`kubectl refit approve to-v1.36.3 --plan sha256:shown` by another user"; !strings.Contains(notes.String(), want) {
		t.Errorf("notes: %q", notes.String())
	}
}
