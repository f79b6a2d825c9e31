package component

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func offerOf(name, version string, fits ...refitv1alpha1.ComponentFit) refitv1alpha1.ReleaseComponent {
	return refitv1alpha1.ReleaseComponent{Name: name, Version: version, Fits: fits}
}

func fitOf(version, kubernetes string) refitv1alpha1.ComponentFit {
	return refitv1alpha1.ComponentFit{Version: version, Kubernetes: kubernetes}
}

func with(c refitv1alpha1.ReleaseComponent, change func(*refitv1alpha1.ReleaseComponent)) refitv1alpha1.ReleaseComponent {
	change(&c)
	return c
}

// story tells where each component changes, as an operator reads a plan.
func story(hops []Release, placed []Placed, noPath []NoPath) (lines []string) {
	for _, p := range placed {
		where := "after the control plane of"
		if p.Before {
			where = "before the control plane of"
		}
		versions := strings.TrimPrefix(p.From+" → "+p.To, " → ")
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s: %s", p.Action, p.Component, strings.TrimSuffix(versions, " → "), where, hops[p.Hop].Kubernetes, p.Reason))
	}
	for _, n := range noPath {
		lines = append(lines, "no path: "+n.Message)
	}
	return lines
}

func TestPlacement(t *testing.T) {
	needsB := func(c *refitv1alpha1.ReleaseComponent) { c.Needs = []string{"b"} }
	needsA := func(c *refitv1alpha1.ReleaseComponent) { c.Needs = []string{"a"} }
	other, otherInstalled := []refitv1alpha1.ReleaseComponent{offerOf("other", "1.0.0")}, Installed{Name: "other", Version: "1.0.0"}
	before := func(c *refitv1alpha1.ReleaseComponent) { c.Place = refitv1alpha1.PlaceBefore }
	uninstall := func(c *refitv1alpha1.ReleaseComponent) { c.OnRemove = refitv1alpha1.RemoveUninstall }
	// a 1 runs up to 1.35, a 2 from 1.35 on.
	fits := []refitv1alpha1.ComponentFit{fitOf("<2", "<1.36"), fitOf(">=2", ">=1.35")}
	for _, c := range []struct {
		situation string
		former    []Release // that are no hops
		hops      []Release
		installed []Installed
		want      []string
	}{
		{
			situation: "installed version fits the next Kubernetes",
			hops:      []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{offerOf("a", "2.0.0", fitOf("", ">=1.30"))}}},
			installed: []Installed{{Name: "a", Version: "1.0.0"}},
			want:      []string{"Upgrade a 1.0.0 → 2.0.0 after the control plane of v1.36.3: a 1.0.0 runs on Kubernetes v1.36.3"},
		},
		{
			situation: "installed version does not fit the next Kubernetes",
			hops:      []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{offerOf("a", "2.0.0", fits...)}}},
			installed: []Installed{{Name: "a", Version: "1.0.0"}},
			want:      []string{"Upgrade a 1.0.0 → 2.0.0 before the control plane of v1.36.3: a 1.0.0 does not run on Kubernetes v1.36.3"},
		},
		{
			situation: "no offered version runs on both sides of a hop",
			hops:      []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{offerOf("a", "2.0.0", fitOf("<2", "<1.36"), fitOf(">=2", ">=1.36"))}}},
			installed: []Installed{{Name: "a", Version: "1.0.0"}},
			want:      []string{"no path: a 1.0.0 does not run on Kubernetes v1.36.3, and no offered version runs on both 1.35.4 and it"},
		},
		{
			situation: "a bridging version of the same ClusterRelease",
			hops: []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{
				offerOf("a", "1.5.0"),
				offerOf("a", "2.0.0", fitOf("<1.5", "<1.36"), fitOf(">=1.5 <2", ">=1.35 <1.37"), fitOf(">=2", ">=1.36")),
			}}},
			installed: []Installed{{Name: "a", Version: "1.0.0"}},
			want: []string{
				"Upgrade a 1.0.0 → 1.5.0 before the control plane of v1.36.3: a 1.0.0 does not run on Kubernetes v1.36.3",
				"Upgrade a 1.5.0 → 2.0.0 after the control plane of v1.36.3: a 1.5.0 runs on Kubernetes v1.36.3",
			},
		},
		{
			situation: "two hops, the version that reaches furthest wins",
			hops: []Release{
				{"v1.36.3", []refitv1alpha1.ReleaseComponent{offerOf("a", "1.5.0"), offerOf("a", "1.6.0")}},
				{"v1.37.1", []refitv1alpha1.ReleaseComponent{
					offerOf("a", "2.0.0", fitOf("<1.5", "<1.36"), fitOf("=1.5.0", ">=1.35 <1.38"), fitOf("=1.6.0", ">=1.35 <1.37"), fitOf(">=2", ">=1.37")),
				}},
			},
			installed: []Installed{{Name: "a", Version: "1.0.0"}},
			want: []string{
				"Upgrade a 1.0.0 → 1.5.0 before the control plane of v1.36.3: a 1.0.0 does not run on Kubernetes v1.36.3",
				"Upgrade a 1.5.0 → 2.0.0 after the control plane of v1.37.1: a 1.5.0 runs on Kubernetes v1.37.1",
			},
		},
		{
			situation: "the publisher places it before the control plane",
			hops:      []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{with(offerOf("a", "2.0.0"), before)}}},
			installed: []Installed{{Name: "a", Version: "1.0.0"}},
			want:      []string{"Upgrade a 1.0.0 → 2.0.0 before the control plane of v1.36.3: the publisher places it before the control plane"},
		},
		{
			situation: "newer than the offered version",
			hops:      []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{offerOf("a", "2.0.0")}}},
			installed: []Installed{{Name: "a", Version: "2.1.0"}},
		},
		{
			situation: "not installed",
			hops:      []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{offerOf("a", "2.0.0")}}},
			want:      []string{"Install a 2.0.0 after the control plane of v1.36.3: it is not installed"},
		},
		{
			situation: "offered version does not fit its own Kubernetes",
			hops:      []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{offerOf("a", "2.0.0", fitOf("", "<1.36"))}}},
			want:      []string{"no path: the ClusterRelease offers a 2.0.0, which does not run on Kubernetes v1.36.3"},
		},
		{
			situation: "a component that another one needs goes first",
			hops:      []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{with(offerOf("a", "2.0.0"), needsB), offerOf("b", "2.0.0")}}},
			installed: []Installed{{Name: "a", Version: "1.0.0"}, {Name: "b", Version: "1.0.0"}},
			want: []string{
				"Upgrade b 1.0.0 → 2.0.0 after the control plane of v1.36.3: b 1.0.0 runs on Kubernetes v1.36.3",
				"Upgrade a 1.0.0 → 2.0.0 after the control plane of v1.36.3: a 1.0.0 runs on Kubernetes v1.36.3",
			},
		},
		{
			situation: "a component that is needed before the control plane moves there",
			hops:      []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{with(offerOf("a", "2.0.0", fits...), needsB), offerOf("b", "2.0.0")}}},
			installed: []Installed{{Name: "a", Version: "1.0.0"}, {Name: "b", Version: "1.0.0"}},
			want: []string{
				"Upgrade b 1.0.0 → 2.0.0 before the control plane of v1.36.3: a needs it",
				"Upgrade a 1.0.0 → 2.0.0 before the control plane of v1.36.3: a 1.0.0 does not run on Kubernetes v1.36.3",
			},
		},
		{
			situation: "a component that is needed before the control plane does not run there yet",
			hops: []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{
				with(offerOf("a", "2.0.0", fits...), needsB), offerOf("b", "2.0.0", fitOf("<2", ""), fitOf(">=2", ">=1.36")),
			}}},
			installed: []Installed{{Name: "a", Version: "1.0.0"}, {Name: "b", Version: "1.0.0"}},
			want: []string{
				"Upgrade a 1.0.0 → 2.0.0 before the control plane of v1.36.3: a 1.0.0 does not run on Kubernetes v1.36.3",
				"Upgrade b 1.0.0 → 2.0.0 after the control plane of v1.36.3: b 1.0.0 runs on Kubernetes v1.36.3",
				"no path: a 2.0.0 needs b 2.0.0, which does not run on Kubernetes 1.35.4",
			},
		},
		{
			situation: "the target no longer has a component that Refit installed",
			hops:      []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{with(offerOf("a", "1.0.0"), uninstall)}}, {"v1.37.1", other}},
			installed: []Installed{{Name: "a", Version: "1.0.0", ByRefit: true}, otherInstalled},
			want:      []string{"Remove a 1.0.0 after the control plane of v1.37.1: the target no longer has it"},
		},
		{
			situation: "a component that only an earlier hop offers",
			hops:      []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{offerOf("a", "2.0.0"), offerOf("b", "2.0.0")}}, {"v1.37.1", other}},
			installed: []Installed{{Name: "a", Version: "1.0.0"}, otherInstalled},
		},
		{
			situation: "a component that the publisher places before the control plane, and that the target drops",
			hops:      []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{with(offerOf("a", "2.0.0"), before)}}, {"v1.37.1", other}},
			installed: []Installed{{Name: "a", Version: "1.0.0"}, otherInstalled},
		},
		{
			situation: "a component that the target drops, and that does not run on the next Kubernetes",
			hops:      []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{with(offerOf("a", "v2.0.0", fits...), uninstall)}}, {"v1.37.1", other}},
			installed: []Installed{{Name: "a", Version: "v1.0.0", ByRefit: true}, otherInstalled},
			want: []string{
				"Upgrade a v1.0.0 → v2.0.0 before the control plane of v1.36.3: a 1.0.0 does not run on Kubernetes v1.36.3",
				"Remove a v2.0.0 after the control plane of v1.37.1: the target no longer has it",
			},
		},
		{
			situation: "the target no longer has two components, of which one needs the other",
			hops: []Release{
				{"v1.36.3", []refitv1alpha1.ReleaseComponent{with(with(offerOf("a", "1.0.0"), needsB), uninstall), with(offerOf("b", "1.0.0"), uninstall)}},
				{"v1.37.1", other},
			},
			installed: []Installed{{Name: "b", Version: "1.0.0", ByRefit: true}, {Name: "a", Version: "1.0.0", ByRefit: true}, otherInstalled},
			want: []string{
				"Remove a 1.0.0 after the control plane of v1.37.1: the target no longer has it",
				"Remove b 1.0.0 after the control plane of v1.37.1: the target no longer has it",
			},
		},
		{
			situation: "the target no longer has a component of the user",
			hops:      []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{with(offerOf("a", "1.0.0"), uninstall)}}, {"v1.37.1", other}},
			installed: []Installed{{Name: "a", Version: "1.0.0"}, otherInstalled},
		},
		{
			situation: "the ClusterRelease of the installed version is no hop",
			former:    []Release{{"v1.35.4", []refitv1alpha1.ReleaseComponent{with(offerOf("a", "1.0.0"), uninstall)}}},
			hops:      []Release{{"v1.36.3", other}},
			installed: []Installed{{Name: "a", Version: "1.0.0", ByRefit: true}, otherInstalled},
			want:      []string{"Remove a 1.0.0 after the control plane of v1.36.3: the target no longer has it"},
		},
		{
			situation: "a newer ClusterRelease of the installed version keeps it",
			former: []Release{
				{"v1.35.4", []refitv1alpha1.ReleaseComponent{offerOf("a", "1.0.0")}},
				{"v1.34.1", []refitv1alpha1.ReleaseComponent{with(offerOf("a", "1.0.0"), uninstall)}},
			},
			hops:      []Release{{"v1.36.3", other}},
			installed: []Installed{{Name: "a", Version: "1.0.0", ByRefit: true}, otherInstalled},
		},
		{
			situation: "a target without any components",
			former:    []Release{{"v1.35.4", []refitv1alpha1.ReleaseComponent{with(offerOf("a", "1.0.0"), uninstall)}}},
			hops:      []Release{{"v1.36.3", nil}},
			installed: []Installed{{Name: "a", Version: "1.0.0", ByRefit: true}},
		},
		{
			situation: "the target upgrades a component, and drops three that need each other",
			former: []Release{{"v1.35.4", []refitv1alpha1.ReleaseComponent{
				with(with(offerOf("c", "1.0.0"), needsB), uninstall), with(with(offerOf("b", "1.0.0"), needsA), uninstall), with(offerOf("a", "1.0.0"), uninstall),
			}}},
			hops: []Release{{"v1.36.3", []refitv1alpha1.ReleaseComponent{offerOf("other", "2.0.0")}}},
			installed: []Installed{
				{Name: "a", Version: "1.0.0", ByRefit: true}, {Name: "b", Version: "1.0.0", ByRefit: true}, {Name: "c", Version: "1.0.0", ByRefit: true}, otherInstalled,
			},
			want: []string{
				"Upgrade other 1.0.0 → 2.0.0 after the control plane of v1.36.3: other 1.0.0 runs on Kubernetes v1.36.3",
				"Remove c 1.0.0 after the control plane of v1.36.3: the target no longer has it",
				"Remove b 1.0.0 after the control plane of v1.36.3: the target no longer has it",
				"Remove a 1.0.0 after the control plane of v1.36.3: the target no longer has it",
			},
		},
	} {
		t.Run(c.situation, func(t *testing.T) {
			placed, noPath, err := Place("v1.35.4", c.hops, c.installed, append(slices.Clone(c.former), c.hops...))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Join(story(c.hops, placed, noPath), "\n"), strings.Join(c.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestComponentsThatNeedEachOther(t *testing.T) {
	needs := func(name string) func(*refitv1alpha1.ReleaseComponent) {
		return func(c *refitv1alpha1.ReleaseComponent) { c.Needs = []string{name} }
	}
	for want, components := range map[string][]refitv1alpha1.ReleaseComponent{
		"components need each other: a → b → a":                        {with(offerOf("a", "1.0.0"), needs("b")), with(offerOf("b", "1.0.0"), needs("a"))},
		"component a needs c, which no ClusterRelease of the plan has": {with(offerOf("a", "1.0.0"), needs("c"))},
		`component a: invalid version "one"`:                           {offerOf("a", "one")},
	} {
		if _, _, err := Place("v1.35.4", []Release{{"v1.36.3", components}}, nil, nil); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
