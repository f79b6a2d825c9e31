package components

import (
	"bytes"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
)

func chartsOf(t *testing.T, c client.Client) (names []string) {
	t.Helper()
	var list corev1.ConfigMapList
	if err := c.List(t.Context(), &list, client.HasLabels{charts.Label}); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		names = append(names, string(list.Items[i].BinaryData[charts.Key]))
	}
	slices.Sort(names)
	return names
}

func TestUnusedCharts(t *testing.T) {
	u := &refitv1alpha1.ComponentUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "2"}}
	r, c := newWorld(t, u)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r.now = func() time.Time { return now }
	collect := func(after time.Duration) {
		t.Helper()
		now = now.Add(after)
		if err := r.collect(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, archive := range []string{"needed", "unused"} {
		if err := charts.Put(t.Context(), c, []byte(archive)); err != nil {
			t.Fatal(err)
		}
	}
	release := published(t, "release", artifact.NewKey(), charts.Identify([]byte("needed")))
	if err := c.Create(t.Context(), release); err != nil {
		t.Fatal(err)
	}
	collect(0)
	collect(23 * time.Hour)
	if got := chartsOf(t, c); !slices.Equal(got, []string{"needed", "unused"}) {
		t.Errorf("after less than a day: %q", got)
	}
	collect(2 * time.Hour)
	if got := chartsOf(t, c); !slices.Equal(got, []string{"needed"}) {
		t.Errorf("after a day: %q", got)
	}
	if err := c.Delete(t.Context(), release); err != nil {
		t.Fatal(err)
	}
	collect(time.Hour)
	again := published(t, "again", artifact.NewKey(), charts.Identify([]byte("needed")))
	if err := c.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	collect(48 * time.Hour)
	if err := c.Delete(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	collect(time.Hour) // counts from here on
	if got := chartsOf(t, c); !slices.Equal(got, []string{"needed"}) {
		t.Errorf("of a ClusterRelease that was added again: %q", got)
	}
	broken := published(t, "broken", artifact.NewKey(), charts.Identify([]byte("other")))
	broken.Spec.Components = bytes.TrimSuffix(broken.Spec.Components, []byte("}"))
	if err := c.Create(t.Context(), broken); err != nil {
		t.Fatal(err)
	}
	now = now.Add(48 * time.Hour)
	if err := r.collect(t.Context()); err == nil || len(chartsOf(t, c)) != 1 {
		t.Errorf("beside a ClusterRelease that cannot be read: %q, %v", chartsOf(t, c), err)
	}
}
