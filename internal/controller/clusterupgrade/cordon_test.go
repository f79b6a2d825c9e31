package clusterupgrade

import (
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/plan"
)

func TestAutoscalersAreKeptOffANodeBetweenItsCordonAndItsRelease(t *testing.T) {
	const scaleDown, karpenter = refitv1alpha1.AnnotationScaleDownDisabled, refitv1alpha1.AnnotationDoNotDisrupt
	for situation, tt := range map[string]struct {
		start, end plan.ActionKind
		mark       string // that the start leaves besides
	}{
		"a node that is drained":     {plan.Cordon, plan.Uncordon, refitv1alpha1.AnnotationCordonedBy},
		"a node that is not drained": {plan.Protect, plan.Unprotect, ""},
		"a node that was abandoned":  {plan.Cordon, plan.Unprotect, refitv1alpha1.AnnotationCordonedBy},
	} {
		t.Run(situation, func(t *testing.T) {
			n := worker()
			n.Annotations = map[string]string{karpenter: "true"} // the user's
			s := newScene(t, n)
			if err := s.execute(asObserved, plan.Action{Kind: tt.start, Node: "worker-1"}); err != nil {
				t.Fatal(err)
			}
			if got := s.annotations(); got[scaleDown] != "true" || got[karpenter] != "true" || got[refitv1alpha1.AnnotationProtectedBy] != "op" {
				t.Errorf("%v while it is active", got)
			}
			if err := s.execute(asObserved, plan.Action{Kind: tt.end, Node: "worker-1"}); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{karpenter: "true"}
			if tt.end == plan.Unprotect && tt.mark != "" {
				want[tt.mark] = "op"
			}
			if got := s.annotations(); !maps.Equal(got, want) {
				t.Errorf("%v afterwards, want %v", got, want)
			}
		})
	}
}

func (s *scene) annotations() map[string]string {
	s.t.Helper()
	n := &corev1.Node{}
	if err := s.Client.Get(s.t.Context(), types.NamespacedName{Name: "worker-1"}, n); err != nil {
		s.t.Fatal(err)
	}
	return n.Annotations
}
