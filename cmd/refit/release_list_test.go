package main

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestReleasesAreListed(t *testing.T) {
	s := newSite(t)
	if code := s.refit(t, "release", "list"); code != 0 || !strings.Contains(s.out.String(), "There are no ClusterReleases") {
		t.Errorf("exit code %d: %s %s", code, s.err, s.out)
	}
	r := &refitv1alpha1.ClusterRelease{ObjectMeta: metav1.ObjectMeta{Name: "broken"}, Spec: refitv1alpha1.ClusterReleaseSpec{Kubernetes: "v1.36.3"}}
	if err := s.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	s.out.Reset()
	var list cliv1alpha1.Releases
	code := s.refit(t, "release", "list", "-o", "json")
	if err := json.Unmarshal(s.out.Bytes(), &list); err != nil || code != 0 || len(list.Releases) != 1 || list.Releases[0].Problem == "" {
		t.Errorf("exit code %d: %+v, %v", code, list, err)
	}
}
