package cluster

import (
	"maps"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const (
	scaleDown   = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
	doNotTouch  = "karpenter.sh/do-not-disrupt"
	protectedBy = "refit.dev/protected-by"
	with        = "refit.dev/protected-with"
)

func TestAutoscalersLeaveAProtectedNodeAlone(t *testing.T) {
	for situation, tt := range map[string]struct{ before, during map[string]string }{
		"a node without annotations": {nil, map[string]string{
			scaleDown: "true", doNotTouch: "true", protectedBy: "op", with: scaleDown + "," + doNotTouch,
		}},
		"the user protects it from one autoscaler": {map[string]string{scaleDown: "true", "note": "x"}, map[string]string{
			scaleDown: "true", doNotTouch: "true", protectedBy: "op", with: doNotTouch, "note": "x",
		}},
		"the user protects it from both": {map[string]string{scaleDown: "true", doNotTouch: "true"}, map[string]string{
			scaleDown: "true", doNotTouch: "true", protectedBy: "op",
		}},
		"the user offers it to an autoscaler": {map[string]string{doNotTouch: "false"}, map[string]string{
			scaleDown: "true", doNotTouch: "false", protectedBy: "op", with: scaleDown,
		}},
	} {
		t.Run(situation, func(t *testing.T) {
			got := Protect(maps.Clone(tt.before), "op")
			if !maps.Equal(got, tt.during) {
				t.Errorf("protected with %v, want %v", got, tt.during)
			}
			if again := Protect(maps.Clone(got), "op"); !maps.Equal(again, tt.during) {
				t.Errorf("protected again with %v", again)
			}
			if next := Protect(maps.Clone(got), "next"); next[protectedBy] != "next" || next[with] != tt.during[with] {
				t.Errorf("another operation protects it with %v", next)
			}
			Unprotect(got)
			if !maps.Equal(got, tt.before) {
				t.Errorf("%v afterwards, want %v", got, tt.before)
			}
		})
	}
}

func TestUnprotectKeepsWhatIsNotRefits(t *testing.T) {
	for situation, tt := range map[string]struct{ before, after map[string]string }{
		"the user changed it since":  {map[string]string{doNotTouch: "false", with: doNotTouch, protectedBy: "op"}, map[string]string{doNotTouch: "false"}},
		"the user removed it since":  {map[string]string{with: doNotTouch, protectedBy: "op"}, nil},
		"the list names another one": {map[string]string{"note": "true", with: "note", protectedBy: "op"}, map[string]string{"note": "true"}},
		"nothing is protected":       {map[string]string{scaleDown: "true"}, map[string]string{scaleDown: "true"}},
	} {
		t.Run(situation, func(t *testing.T) {
			if Unprotect(tt.before); !maps.Equal(tt.before, tt.after) {
				t.Errorf("%v, want %v", tt.before, tt.after)
			}
		})
	}
	if refitv1alpha1.AnnotationDoNotDisrupt != doNotTouch || refitv1alpha1.AnnotationScaleDownDisabled != scaleDown {
		t.Error("the names of the annotations have changed")
	}
}
