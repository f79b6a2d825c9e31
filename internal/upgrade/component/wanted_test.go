package component

import (
	"fmt"
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestWantedChanges(t *testing.T) {
	before := func(c *refitv1alpha1.ReleaseComponent) { c.Place = refitv1alpha1.PlaceBefore }
	planned := func(from, to, runsOn string) refitv1alpha1.PlannedComponent {
		return refitv1alpha1.PlannedComponent{Name: "a", From: from, To: to, RunsOn: runsOn, Action: refitv1alpha1.ActionUpgrade}
	}
	for _, c := range []struct {
		situation string
		offers    []refitv1alpha1.ReleaseComponent
		installed string
		plan      []refitv1alpha1.PlannedComponent
		want      []string
	}{
		{
			situation: "it runs before and after the control plane",
			offers:    []refitv1alpha1.ReleaseComponent{offerOf("a", "2.0.0")}, installed: "1.0.0",
			want: []string{"Upgrade 2.0.0 on v1.37.1", "Upgrade 2.0.0 on v1.35.4"},
		},
		{
			situation: "the publisher places it before the control plane",
			offers:    []refitv1alpha1.ReleaseComponent{with(offerOf("a", "2.0.0"), before)}, installed: "1.0.0",
			want: []string{"Upgrade 2.0.0 on v1.35.4"},
		},
		{
			situation: "it does not run on the current Kubernetes",
			offers:    []refitv1alpha1.ReleaseComponent{offerOf("a", "2.0.0", fitOf("<2", ""), fitOf(">=2", ">=1.37"))}, installed: "1.0.0",
			want: []string{"Upgrade 2.0.0 on v1.37.1"},
		},
		{
			situation: "no path in one hop, but a version in between",
			offers: []refitv1alpha1.ReleaseComponent{
				offerOf("a", "1.5.0"), offerOf("a", "2.0.0", fitOf("<1.5", "<1.36"), fitOf(">=1.5 <2", "<1.37"), fitOf(">=2", ">=1.36")),
			},
			installed: "1.0.0",
			want:      []string{"Upgrade 1.5.0 on v1.35.4", "no path"},
		},
		{
			situation: "a plan changes it on a version that not all API servers have",
			offers:    []refitv1alpha1.ReleaseComponent{offerOf("a", "2.0.0", fitOf("<2", ""), fitOf(">=2", ">=1.37"))}, installed: "1.0.0",
			plan: []refitv1alpha1.PlannedComponent{planned("0.9.0", "1.0.0", "v1.35.4"), planned("1.0.0", "2.0.0", "v1.36.3"), planned("2.0.0", "3.0.0", "v1.37.1")},
			want: []string{"Upgrade 2.0.0 on v1.37.1", "Upgrade 2.0.0 on v1.36.3"},
		},
		{
			situation: "not installed",
			offers:    []refitv1alpha1.ReleaseComponent{offerOf("a", "2.0.0")},
			want:      []string{"Install 2.0.0 on v1.37.1", "Install 2.0.0 on v1.35.4"},
		},
		{
			situation: "newer than the offered version",
			offers:    []refitv1alpha1.ReleaseComponent{offerOf("a", "2.0.0")}, installed: "2.1.0",
		},
	} {
		t.Run(c.situation, func(t *testing.T) {
			var installed []Installed
			if c.installed != "" {
				installed = []Installed{{Name: "a", Version: c.installed}}
			}
			wanted, noPath, err := WantedOf("a", "v1.35.4", Release{Kubernetes: "v1.37.1", Components: c.offers}, installed, c.plan)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range wanted {
				if w.From != c.installed {
					t.Errorf("from %q, want %q", w.From, c.installed)
				}
				got = append(got, fmt.Sprintf("%s %s on %s", w.Action, w.To, w.Kubernetes))
			}
			if noPath != nil {
				got = append(got, "no path")
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
