package component

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func names(steps []Step) string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Name)
	}
	return strings.Join(out, " ")
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		situation     string
		recipe        []refitv1alpha1.RecipeStep
		forward, back string
	}{
		{
			"without a recipe", nil,
			"check save keep-crds adopt crds wave-all verify commit sweep",
			"unflip undo-wave-all undo-crds verify-old undo-sweep",
		},
		{
			"with a recipe", recipe,
			"check save freeze keep-crds adopt crds wave-controllers touch-1 patch-1 wave-rest verify commit sweep",
			"unflip undo-wave-rest undo-patch-1 undo-wave-controllers undo-crds undo-touch-1 verify-old undo-sweep",
		},
	} {
		t.Run(c.situation, func(t *testing.T) {
			steps, err := Compile(c.recipe)
			if err != nil {
				t.Fatal(err)
			}
			if got := names(steps); got != c.forward {
				t.Errorf("steps\n%s\nwant\n%s", got, c.forward)
			}
			if got := names(Rollback(steps)); got != c.back {
				t.Errorf("rollback\n%s\nwant\n%s", got, c.back)
			}
			for _, s := range append(steps, Rollback(steps)...) {
				if s.Limit <= 0 {
					t.Errorf("%s has no limit", s.Name)
				}
			}
		})
	}
}

// A verification whose timeout did not include its soak would fail for each long one.
func TestTheSoakExtendsTheTimeoutOfTheVerification(t *testing.T) {
	limitOf := func(soak time.Duration) time.Duration {
		steps, err := Compile([]refitv1alpha1.RecipeStep{
			{Wave: &refitv1alpha1.RecipeWave{Name: "rest"}}, {Verify: &refitv1alpha1.RecipeVerify{Soak: metav1.Duration{Duration: soak}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return steps[slices.IndexFunc(steps, func(s Step) bool { return s.Kind == StepVerify })].Limit
	}
	if got, want := limitOf(maxSoak), limitOf(0)+maxSoak; got != want {
		t.Errorf("the timeout is %s, want %s", got, want)
	}
}

func TestInvalidRecipes(t *testing.T) {
	type step = refitv1alpha1.RecipeStep
	rest, verify := step{Wave: &refitv1alpha1.RecipeWave{Name: "rest"}}, step{Verify: &refitv1alpha1.RecipeVerify{}}
	one := step{Wave: &refitv1alpha1.RecipeWave{Name: "one", Objects: []string{"Deployment/x"}}}
	freeze := func(change func(*refitv1alpha1.RecipeFreeze)) step {
		f := *recipe[1].Freeze
		change(&f)
		return step{Freeze: &f}
	}
	touch := func(o refitv1alpha1.RecipeObjects) step {
		return step{Touch: &refitv1alpha1.RecipeTouch{RecipeObjects: o}}
	}
	for _, c := range []struct {
		want   string
		recipe []step
	}{
		{"recipe[0]: a step has exactly one of", []step{{}}},
		{"recipe[0]: a step has exactly one of", []step{{CRDs: &refitv1alpha1.RecipeCRDs{}, Wave: rest.Wave}}},
		{"recipe: the last wave must have no objects", []step{one, verify}},
		{"recipe: verify is missing", []step{rest}},
		{"recipe[2]: verify must be the last step", []step{rest, verify, verify}},
		{"recipe[1]: wave rest occurs twice", []step{rest, rest}},
		{"recipe[1]: wave one follows the wave of everything else", []step{rest, one}},
		{"recipe[1]: crds must precede", []step{rest, {CRDs: &refitv1alpha1.RecipeCRDs{}}}},
		{"recipe[1]: freeze must be the first", []step{rest, recipe[1]}},
		{"recipe[1]: freeze must be the first", []step{recipe[1], recipe[1]}},
		{"recipe[0]: freeze: limit must be", []step{freeze(func(f *refitv1alpha1.RecipeFreeze) { f.Limit = metav1.Duration{} })}},
		{"recipe[0]: freeze: limit must be", []step{freeze(func(f *refitv1alpha1.RecipeFreeze) { f.Limit = metav1.Duration{Duration: 100 * time.Hour} })}},
		{"recipe[0]: freeze: operation", []step{freeze(func(f *refitv1alpha1.RecipeFreeze) { f.Deny.Operations = []string{"CONNECT"} })}},
		{`recipe[0]: freeze: "pods"`, []step{freeze(func(f *refitv1alpha1.RecipeFreeze) { f.Deny.Resources = []string{"pods"} })}},
		{`recipe[0]: freeze: "leases.coordination.k8s.io" is a resource of Kubernetes`, []step{freeze(func(f *refitv1alpha1.RecipeFreeze) {
			f.Deny.Resources = []string{"leases.coordination.k8s.io"}
		})}},
		{`recipe[0]: freeze: "componentupgrades.refit.dev" is`, []step{freeze(func(f *refitv1alpha1.RecipeFreeze) {
			f.Deny.Resources = append([]string{"things.example.com"}, "componentupgrades.refit.dev")
		})}},
		{`recipe[0]: freeze: "x' || true"`, []step{freeze(func(f *refitv1alpha1.RecipeFreeze) { f.Except.ServiceAccountsIn = []string{"x' || true"} })}},
		{`recipe[0]: touch: "Node"`, []step{touch(refitv1alpha1.RecipeObjects{Kind: "Node"})}},
		{`recipe[0]: touch: until "Gone"`, []step{touch(refitv1alpha1.RecipeObjects{Kind: "Thing.example.com", Until: "Gone"})}},
		{"recipe[0]: touch: limit must be at most 30m0s", []step{touch(refitv1alpha1.RecipeObjects{
			Kind: "Thing.example.com", Limit: metav1.Duration{Duration: time.Hour},
		})}},
		{`recipe[0]: patch: path "spec"`, []step{{Patch: &refitv1alpha1.RecipePatch{Path: "spec"}}}},
		{`recipe[0]: patch: path "/"`, []step{{Patch: &refitv1alpha1.RecipePatch{Path: "/"}}}},
		{`recipe[0]: patch: path "/status/phase"`, []step{{Patch: &refitv1alpha1.RecipePatch{Path: "/status/phase"}}}},
		{`recipe[0]: patch: path "/metadata/name"`, []step{{Patch: &refitv1alpha1.RecipePatch{Path: "/metadata/name"}}}},
		{"recipe[0]: patch: unknown variable ${home}", []step{{Patch: &refitv1alpha1.RecipePatch{Path: "/spec", Value: "${home}"}}}},
		{`recipe[0]: wave "Rest"`, []step{{Wave: &refitv1alpha1.RecipeWave{Name: "Rest"}}}},
		{`recipe[1]: verify: ready "all" is not All`, []step{rest, {Verify: &refitv1alpha1.RecipeVerify{Ready: "all"}}}},
		{`recipe[1]: verify: images "Any" is not`, []step{rest, {Verify: &refitv1alpha1.RecipeVerify{Images: "Any"}}}},
		{"recipe[1]: verify: soak must be", []step{rest, {Verify: &refitv1alpha1.RecipeVerify{Soak: metav1.Duration{Duration: -time.Second}}}}},
		{"recipe[1]: verify: soak must be", []step{rest, {Verify: &refitv1alpha1.RecipeVerify{Soak: metav1.Duration{Duration: 2 * time.Hour}}}}},
		{"the recipe has 21 steps", make([]step, 21)},
	} {
		if _, err := Compile(c.recipe); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

func TestVariables(t *testing.T) {
	v := Variables{From: "v1", To: "v2", Images: map[string]string{"virtual-kubelet": "example.com/virtual-kubelet:v2"}}
	got, err := v.Expand("${from} ${to} ${image:virtual-kubelet}")
	if want := "v1 v2 example.com/virtual-kubelet:v2"; err != nil || got != want {
		t.Errorf("got %q (%v), want %q", got, err, want)
	}
	if _, err := v.Expand("${image:proxy}"); err == nil || err.Error() != "the chart has no image proxy" {
		t.Errorf("error %v", err)
	}
}

func TestImagesByName(t *testing.T) {
	got := ImagesByName([]string{"registry.test:5000/liqo/virtual-kubelet:v1.2.0", "busybox", "a/b@sha256:00", "a/c:v1@sha256:00"})
	want := map[string]string{
		"virtual-kubelet": "registry.test:5000/liqo/virtual-kubelet:v1.2.0", "busybox": "busybox", "b": "a/b@sha256:00", "c": "a/c:v1@sha256:00",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
