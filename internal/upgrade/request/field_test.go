package request

import (
	"errors"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestAnErrorOfValidateNamesItsField(t *testing.T) {
	spec := func(change func(*refitv1alpha1.ClusterUpgradeSpec)) *refitv1alpha1.ClusterUpgradeSpec {
		s := &refitv1alpha1.ClusterUpgradeSpec{Target: refitv1alpha1.Target{Kubernetes: "v1.36.3"}}
		change(s)
		return s
	}
	for want, s := range map[string]*refitv1alpha1.ClusterUpgradeSpec{
		"#/target":            {},
		"#/target/kubernetes": {Target: refitv1alpha1.Target{Kubernetes: "latest"}},
		"#/scope":             spec(func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Scope = "Some" }),
		"#/waivers/0":         spec(func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Waivers = []refitv1alpha1.Waiver{{Check: "X"}} }),
		"#/pools/0/name":      spec(func(s *refitv1alpha1.ClusterUpgradeSpec) { s.Pools = []refitv1alpha1.Pool{{Name: "A B"}} }),
	} {
		err := Validate(s)
		if err == nil {
			t.Errorf("%s: there is no error", want)
			continue
		}
		path, problem := Field(err)
		if got := Pointer("#", path); got != want || problem == "" {
			t.Errorf("%v is about %s (%s), want %s", err, got, problem, want)
		}
	}
	if path, problem := Field(errors.New("the canary of pool a is 3 nodes: too many")); path != "" || problem == "" {
		t.Errorf("got the path %q and the problem %q", path, problem)
	}
}

func TestPointersOfFields(t *testing.T) {
	for path, want := range map[string]string{
		"":                               "#",
		"spec.pools[0].maxUnavailable":   "#/spec/pools/0/maxUnavailable",
		"nodeSelector[example.com/zone]": "#/nodeSelector/example.com~1zone",
		"pools[2":                        "#/pools/2",
	} {
		if got := Pointer("#", path); got != want {
			t.Errorf("%q is %s, want %s", path, got, want)
		}
	}
}
