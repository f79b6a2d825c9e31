package text

import (
	"strings"
	"testing"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestNextStepsOfAnAddedReleaseSelectIt(t *testing.T) {
	for name, want := range map[string]string{
		"kubernetes-v1.36.3":   "refit upgrade --to v1.36.3\n",
		"kubernetes-v1.36.3-b": "refit upgrade --release kubernetes-v1.36.3-b\n",
	} {
		if got := AddedRelease(cliv1alpha1.NewAddedRelease("prod", name, "v1.36.3", "SHA256:x"), "refit"); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestComponentsOfARelease(t *testing.T) {
	components := []refitv1alpha1.ReleaseComponent{
		{Name: "operator", Version: "v1.2.0", Release: refitv1alpha1.HelmRelease{Namespace: "system", Name: "operator"}, Chart: refitv1alpha1.ComponentChart{Size: 2048}},
		{
			Name: "app", Version: "3.0.0", Release: refitv1alpha1.HelmRelease{Namespace: "app", Name: "app"}, Chart: refitv1alpha1.ComponentChart{Size: 4096},
			Place: refitv1alpha1.PlaceBefore, Needs: []string{"operator"}, Recipe: make([]refitv1alpha1.RecipeStep, 3),
		},
	}
	const want = `
Components
  operator  v1.2.0  system/operator  2 KiB
  app       3.0.0   app/app          4 KiB  before the control plane; needs operator; recipe of 3 steps
`
	if got := Release(&cliv1alpha1.ReleaseContent{Components: components}); !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}
	if got := ReleaseMade(&MadeRelease{Components: components}); !strings.Contains(got, "\nComponents: operator v1.2.0 and app 3.0.0\n") {
		t.Errorf("%s", got)
	}
}

func TestThePoliciesOfAComponentAreReviewedBeforeItIsSigned(t *testing.T) {
	got := Release(&cliv1alpha1.ReleaseContent{Components: []refitv1alpha1.ReleaseComponent{{
		Name: "app", Version: "3.0.0", Values: map[string]any{"a": map[string]any{"b": "x\x1b[2J"}}, UserMay: []string{"replicas"}, Images: []string{"example/app:3"},
		OnRemove: refitv1alpha1.RemoveUninstall, Checks: []refitv1alpha1.ComponentCheck{{Name: "no-queues", Rule: "false"}},
		Recipe: []refitv1alpha1.RecipeStep{{Wave: &refitv1alpha1.RecipeWave{Name: "all"}}},
	}}})
	for _, want := range []string{
		"\nComponent app 3.0.0, chart", "  values:\n    a:\n      b: ", "  userMay:\n  - replicas\n", "  images:\n  - example/app:3\n", "  onRemove: Uninstall\n",
		"    name: no-queues\n", "    rule: \"false\"\n", "  recipe:\n  - wave:\n      name: all\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Error("a value has control characters")
	}
}
