package components

import (
	"context"
	"errors"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// installed is a component that somebody installed with Helm, with an offer that is blocked by that
// and by something else.
func installed(changes ...func(*refitv1alpha1.Component)) *refitv1alpha1.Component {
	c := &refitv1alpha1.Component{}
	c.Name, c.Spec.Manage = "metrics-server", refitv1alpha1.ManageRefit
	c.Status.Owner = refitv1alpha1.OwnerHelm
	c.Status.Installed = &refitv1alpha1.InstalledComponent{Version: "0.7.2", Namespace: "kube-system", Name: "ms", Revision: 1}
	c.Status.Offers = []refitv1alpha1.ComponentOffer{{
		Release: refitv1alpha1.ReleaseRef{Name: "r"}, Version: "0.9.0", Action: refitv1alpha1.ActionUpgrade,
		Problems: []refitv1alpha1.ComponentProblem{{Reason: notAdopted, Blocks: true}, {Reason: "CRDDropsFields", Blocks: true}},
	}}
	for _, change := range changes {
		change(c)
	}
	return c
}

func owner(o refitv1alpha1.ComponentOwner) func(*refitv1alpha1.Component) {
	return func(c *refitv1alpha1.Component) { c.Status.Owner = o }
}

func TestWhatRefitTakesOver(t *testing.T) {
	adopted := func(c *refitv1alpha1.Component) { c.Spec.Adopt = true }
	observed := func(c *refitv1alpha1.Component) { c.Spec.Manage = refitv1alpha1.ManageObserve }
	for situation, c := range map[string]struct {
		component *refitv1alpha1.Component
		writes    bool
		message   string
		err       string
	}{
		"somebody installed it with Helm": {installed(), true, "Adopted metrics-server", ""},
		"it is adopted":                   {installed(adopted), false, "adopted already", ""},
		"Refit has it":                    {installed(owner(refitv1alpha1.OwnerRefit)), false, "already", ""},
		"it is not installed":             {installed(owner(refitv1alpha1.OwnerNone)), false, "not installed", ""},
		"Flux has it":                     {installed(owner(refitv1alpha1.OwnerFlux)), false, "", `{"spec":{"manage":"Observe"}}`},
		"Argo CD has it":                  {installed(owner(refitv1alpha1.OwnerArgoCD), adopted), false, "", `{"spec":{"manage":"Observe"}}`},
		"it is observed":                  {installed(observed), false, "", `{"spec":{"manage":"Refit"}}`},
		"its owner is unknown":            {installed(owner("")), false, "", "kubectl -n refit-components get pods"},
	} {
		for _, dryRun := range []bool{false, true} {
			var written []bool
			a := &Adopter{Cluster: "prod", Command: "refit", DryRun: dryRun, Write: func(_ context.Context, _ string, dry bool) error {
				written = append(written, dry)
				return nil
			}}
			result, err := a.Adopt(t.Context(), c.component)
			if (c.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", situation, err)
				continue
			}
			if (len(written) == 1) != c.writes || c.writes && written[0] != dryRun {
				t.Errorf("%s: written with %v", situation, written)
			}
			if err != nil {
				continue
			}
			if result.Changed != c.writes || !dryRun && !strings.Contains(result.Message, c.message) || strings.Contains(result.Message, "Nothing was changed") != (dryRun || !c.writes) {
				t.Errorf("%s: %+v", situation, result)
			}
		}
	}
}

func TestAnAdoptionShowsTheOffersWithoutTheProblemThatItFixes(t *testing.T) {
	a := &Adopter{Command: "kubectl refit", Write: func(context.Context, string, bool) error { return nil }}
	result, err := a.Adopt(t.Context(), installed())
	if err != nil || len(result.Offers) != 1 || len(result.Offers[0].Problems) != 1 || result.Offers[0].Problems[0].Reason != "CRDDropsFields" {
		t.Fatalf("%+v, %v", result, err)
	}
	commands := ""
	for _, step := range result.Next {
		commands += step.Command + "\n"
	}
	if want := "helm get values ms -n kube-system\nkubectl edit component metrics-server\nkubectl refit components diff metrics-server\n"; commands != want {
		t.Errorf("next: %q", commands)
	}
}

func TestAnAdoptionThatIsForbidden(t *testing.T) {
	denied := errors.New("forbidden")
	a := &Adopter{Write: func(context.Context, string, bool) error { return denied }}
	if result, err := a.Adopt(t.Context(), installed()); !errors.Is(err, denied) || result != nil {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestTheOffersOfOneClusterReleaseAreShown(t *testing.T) {
	offer := func(release, version string, action refitv1alpha1.ComponentAction) refitv1alpha1.ComponentOffer {
		return refitv1alpha1.ComponentOffer{Release: refitv1alpha1.ReleaseRef{Name: release}, Version: version, Action: action}
	}
	all := []refitv1alpha1.ComponentOffer{
		offer("r36", "1.1", refitv1alpha1.ActionUpgrade), offer("r36", "1.2", refitv1alpha1.ActionUpgrade), offer("r37", "1.0", refitv1alpha1.ActionNone),
	}
	for situation, c := range map[string]struct {
		offers []refitv1alpha1.ComponentOffer
		to     string
		want   string
		err    string
	}{
		"the newest that changes something": {all, "", "1.1 1.2", ""},
		"nothing changes":                   {all[2:], "", "1.0", ""},
		"a name":                            {all, "r37", "1.0", ""},
		"an unknown name":                   {all, "r38", "", "these do: r36, r37"},
		"no offers":                         {nil, "", "", "no ClusterRelease in the cluster offers"},
	} {
		component := installed(func(i *refitv1alpha1.Component) { i.Status.Offers = c.offers })
		got, err := chosen(component, c.to)
		var versions []string
		for i := range got {
			versions = append(versions, got[i].Version)
		}
		if strings.Join(versions, " ") != c.want || (c.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v", situation, versions, err)
		}
		if len(component.Status.Offers) != len(c.offers) {
			t.Errorf("%s: the status has changed", situation)
		}
	}
}
