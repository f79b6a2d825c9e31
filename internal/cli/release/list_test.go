package release

import (
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
)

func TestListOfClusterReleases(t *testing.T) {
	key := artifact.NewKey()
	object := func(name, kubernetes string) refitv1alpha1.ClusterRelease {
		envelope, err := artifact.Sign([]byte(`{"kubernetes":"`+kubernetes+`"}`), key)
		if err != nil {
			t.Fatal(err)
		}
		return refitv1alpha1.ClusterRelease{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: refitv1alpha1.ClusterReleaseSpec{Kubernetes: kubernetes, Envelope: envelope},
			Status: refitv1alpha1.ClusterReleaseStatus{VerifiedHosts: 3},
		}
	}
	damaged := object("damaged", "v1.36.3")
	damaged.Spec.Envelope = []byte("{")
	hop := func(name, release string) refitv1alpha1.ClusterUpgrade {
		u := refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name}}
		u.Status.Plan = &refitv1alpha1.PlanSummary{Hops: []refitv1alpha1.Hop{{Release: refitv1alpha1.ReleaseRef{Name: release}}}}
		return u
	}
	ended := hop("ended", "next")
	ended.Status.Phase = refitv1alpha1.PhaseSucceeded
	ended.Status.Conditions = []metav1.Condition{{Type: refitv1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
	named := refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "planning"}}
	named.Spec.Target.Release = "next"
	list := NewList("prod", []refitv1alpha1.ClusterRelease{object("old", "v1.9.0"), object("next", "v1.37.1"), damaged, object("current", "v1.36.3")},
		[]refitv1alpha1.ClusterUpgrade{hop("night", "next"), ended, named, hop("other", "old")})
	var names []string
	for _, r := range list.Releases {
		names = append(names, r.Name)
	}
	if !slices.Equal(names, []string{"next", "current", "damaged", "old"}) {
		t.Errorf("the order is %v", names)
	}
	next := list.Releases[0]
	if next.KeyID != artifact.PublicOf(key).ID || next.Digest == "" || next.VerifiedHosts != 3 || !reflect.DeepEqual(next.Operations, []string{"night", "planning"}) {
		t.Errorf("next is %+v", next)
	}
	if list.Releases[2].Problem == "" {
		t.Error("a damaged ClusterRelease has no problem")
	}
	if list.Kind != cliv1alpha1.KindReleases || list.Cluster != "prod" {
		t.Errorf("the list is %+v", list)
	}
}
