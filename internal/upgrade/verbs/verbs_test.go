package verbs_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/verbs"
)

// situation is the operation of a verb.
type situation func(u *refitv1alpha1.ClusterUpgrade, o *cliv1alpha1.Operation)

func paused(u *refitv1alpha1.ClusterUpgrade, _ *cliv1alpha1.Operation)  { u.Spec.Paused = true }
func aborted(u *refitv1alpha1.ClusterUpgrade, _ *cliv1alpha1.Operation) { u.Spec.Aborted = true }

func failed(_ *refitv1alpha1.ClusterUpgrade, o *cliv1alpha1.Operation) {
	o.Nodes.Failed = 1
	o.Failures = []cliv1alpha1.NodeFailure{{Node: "worker-1", Step: "swap-kubelet"}}
}

func failedComponent(_ *refitv1alpha1.ClusterUpgrade, o *cliv1alpha1.Operation) {
	o.Failures = []cliv1alpha1.NodeFailure{{Component: "gateway", Step: "verify"}}
}

func unobserved(u *refitv1alpha1.ClusterUpgrade, _ *cliv1alpha1.Operation) { u.Generation = 2 }

func active(_ *refitv1alpha1.ClusterUpgrade, o *cliv1alpha1.Operation) {
	o.Active = []cliv1alpha1.NodeProgress{{Node: "worker-1", Activity: cliv1alpha1.ActivityUpgrade}, {Node: "worker-2", Activity: cliv1alpha1.ActivityDrain}}
}

func TestVerbs(t *testing.T) {
	type spec = refitv1alpha1.ClusterUpgradeSpec
	for name, c := range map[string]struct {
		verb       func(verbs.Operation) (verbs.Decision, error)
		situations []situation
		want       *spec // nil: no change
		exact      bool
		says       string
		err        string
	}{
		"pause":                     {verb: verbs.Pause, situations: []situation{active}, want: &spec{Paused: true}, says: "worker-2: not changed yet"},
		"pause a paused one":        {verb: verbs.Pause, situations: []situation{paused}, says: "paused already"},
		"pause an aborted one":      {verb: verbs.Pause, situations: []situation{aborted}, err: "being aborted"},
		"resume":                    {verb: verbs.Resume, situations: []situation{paused}, want: &spec{}, says: "`refit watch`"},
		"resume with a failed node": {verb: verbs.Resume, situations: []situation{paused, failed}, want: &spec{}, says: "`refit retry`"},
		"resume, component failed":  {verb: verbs.Resume, situations: []situation{paused, failedComponent}, want: &spec{}, says: "a component failed"},
		"resume a running one":      {verb: verbs.Resume, says: "not paused"},
		"resume an aborted one":     {verb: verbs.Resume, situations: []situation{paused, aborted}, err: "being aborted"},
		"retry":                     {verb: verbs.Retry, situations: []situation{failed}, want: &spec{Retry: 1}, exact: true, says: "worker-1 at swap-kubelet"},
		"retry a component":         {verb: verbs.Retry, situations: []situation{failedComponent}, want: &spec{Retry: 1}, exact: true, says: "component gateway"},
		"retry a paused one":        {verb: verbs.Retry, situations: []situation{failed, paused}, want: &spec{Retry: 1, Paused: true}, exact: true, says: "`refit resume`"},
		"retry without a failure":   {verb: verbs.Retry, says: "nothing to retry"},
		"retry twice in a row":      {verb: verbs.Retry, situations: []situation{failed, unobserved}, says: "just been changed"},
		"abort":                     {verb: verbs.Abort, situations: []situation{active}, want: &spec{Aborted: true}, says: "worker-1, worker-2: uncordoned in a safe state"},
		"abort an aborted one":      {verb: verbs.Abort, situations: []situation{aborted}, says: "aborted already"},
	} {
		t.Run(name, func(t *testing.T) {
			u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "night", Generation: 1}}
			u.Status.ObservedGeneration = 1
			o := &cliv1alpha1.Operation{}
			for _, s := range c.situations {
				s(u, o)
			}
			d, err := c.verb(verbs.Operation{ClusterUpgrade: u, Progress: o, Command: "refit"})
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("%v, want %q", err, c.err)
			}
			if !strings.Contains(d.Message, c.says) || d.Exact != c.exact || (d.Change != nil) != (c.want != nil) {
				t.Fatalf("%+v, want a change %v that says %q", d, c.want != nil, c.says)
			}
			if c.want == nil {
				return
			}
			d.Change(&u.Spec)
			if u.Spec.Paused != c.want.Paused || u.Spec.Aborted != c.want.Aborted || u.Spec.Retry != c.want.Retry {
				t.Errorf("%+v, want %+v", u.Spec, *c.want)
			}
		})
	}
}

func TestChosenOperation(t *testing.T) {
	operation := func(name string, phase refitv1alpha1.Phase) refitv1alpha1.ClusterUpgrade {
		u := refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name}}
		u.Status.Phase = phase
		if phase == refitv1alpha1.PhaseSucceeded {
			u.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: refitv1alpha1.ReasonSucceeded}}
		}
		return u
	}
	ended, running, queued := operation("ended", refitv1alpha1.PhaseSucceeded), operation("running", refitv1alpha1.PhaseRunning), operation("queued", refitv1alpha1.PhaseWaiting)
	for name, c := range map[string]struct {
		all       []refitv1alpha1.ClusterUpgrade
		selection verbs.Selection
		want      string
		says      string
	}{
		"the oldest in progress":        {[]refitv1alpha1.ClusterUpgrade{ended, running, queued}, verbs.Selection{}, "running", ""},
		"by its name":                   {[]refitv1alpha1.ClusterUpgrade{ended, running}, verbs.Selection{Name: "ended"}, "ended", ""},
		"a name that does not exist":    {[]refitv1alpha1.ClusterUpgrade{running, ended}, verbs.Selection{Name: "x"}, "", "existing operations: ended, running"},
		"all have ended":                {[]refitv1alpha1.ClusterUpgrade{ended}, verbs.Selection{Cluster: "prod"}, "", "in progress in prod; the last one, ended"},
		"all have ended, or the newest": {[]refitv1alpha1.ClusterUpgrade{ended}, verbs.Selection{OrNewest: true}, "ended", ""},
		"none at all":                   {nil, verbs.Selection{OrNewest: true, Command: "refit"}, "", "`refit upgrade --to VERSION`"},
	} {
		t.Run(name, func(t *testing.T) {
			u, err := c.selection.Choose(c.all)
			switch {
			case c.want != "" && (err != nil || u.Name != c.want):
				t.Errorf("%v, %v, want %s", u, err, c.want)
			case c.want == "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%v, want %q", err, c.says)
			case c.want == "" && c.selection.Name == "" && !errors.Is(err, verbs.ErrNoOperation):
				t.Errorf("%v is not ErrNoOperation", err)
			}
		})
	}
}

func TestAbandon(t *testing.T) {
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "night"}}
	u.Spec.Aborted = true // which otherwise waits for the host
	o := verbs.Operation{ClusterUpgrade: u, Progress: &cliv1alpha1.Operation{}, Command: "refit"}
	d, err := verbs.Abandon(o, "worker-7")
	if err != nil || d.Change == nil || !d.Exact || !strings.Contains(d.Message, "kubectl uncordon worker-7") {
		t.Fatalf("%+v, %v", d, err)
	}
	if !strings.Contains(d.Message, "approve the changed plan: `refit status") { // which lists the control plane nodes
		t.Errorf("%q", d.Message)
	}
	if d.Change(&u.Spec); !slices.Equal(u.Spec.AbandonedNodes, []string{"worker-7"}) {
		t.Errorf("%+v", u.Spec)
	}
	if d, err = verbs.Abandon(o, "worker-7"); err != nil || d.Change != nil {
		t.Errorf("abandoned again: %+v, %v", d, err)
	}
}

func TestPauseAndAbortNameTheOpenStepOfAComponent(t *testing.T) {
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "night"}}
	o := verbs.Operation{ClusterUpgrade: u, Command: "refit", Progress: &cliv1alpha1.Operation{Waiting: []cliv1alpha1.Wait{{
		Reason: refitv1alpha1.ReasonProgressing, Component: "liqo", Message: "Upgrading component liqo to v1.2.0: wave-fabric; waiting: 1 of 9 objects not ready",
	}}}}
	for name, decide := range map[string]func(verbs.Operation) (verbs.Decision, error){"pause": verbs.Pause, "abort": verbs.Abort} {
		d, err := decide(o)
		if want := "Component liqo: the open step ends first, without waiting until objects are ready (Upgrading component liqo to v1.2.0: wave-fabric)."; err != nil || !strings.Contains(d.Message, want) {
			t.Errorf("%s: %q, %v", name, d.Message, err)
		}
	}
}
