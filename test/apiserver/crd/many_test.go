//go:build apiserver

package crd

import (
	"fmt"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/test/apiserver"
	"github.com/refit-dev/refit/test/testbed/figure"
)

const (
	manyObjects = 10_000
	writers     = 16
	// mostSeconds bounds the time in which 10,000 objects are read and judged.
	mostSeconds = 10.0
)

// TestTenThousandObjectsAreJudged reads and judges 10,000 LeaderWorkerSets, the first example of
// the project, for its upgrade.
func TestTenThousandObjectsAreJudged(t *testing.T) {
	if !full() {
		t.Skip("it creates 10,000 objects: run make e2e-components-full")
	}
	l, c := newLane(t), charts[0]
	from := module(t, c.module, c.from)
	before := definitionsOf(t, from, c.crds)["leaderworkersets.leaderworkerset.x-k8s.io"]
	after := definitionsOf(t, module(t, c.module, c.to), c.crds)[before.Name]
	example := examplesOf(t, from, before)[0]
	for _, d := range []*crd.Definition{before, after} {
		d.Spec.Group, d.Name, d.ResourceVersion = l.group, d.Spec.Names.Plural+"."+l.group, ""
	}
	version := crd.StorageVersion(before)
	example.SetAPIVersion(l.group + "/" + version)
	live := l.define(t, before)
	l.create(t, live, example)

	var wg sync.WaitGroup
	for lane := range writers {
		wg.Go(func() {
			objects := l.resource(live, version, example.GetNamespace())
			for i := lane; i < manyObjects-1; i += writers {
				object := &unstructured.Unstructured{Object: map[string]any{"spec": example.Object["spec"]}}
				object.SetGroupVersionKind(example.GroupVersionKind())
				object.SetName(fmt.Sprintf("set-%d", i))
				if _, err := objects.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
					t.Errorf("cannot create %s: %v", object.GetName(), err)
					return
				}
			}
		})
	}
	wg.Wait()

	actor := l.actor(&apiserver.Killer{})
	begun := time.Now()
	report, err := actor.Judge(l.bounded(), after)
	took := time.Since(begun).Seconds()
	must(t, err)
	must(t, figure.Print("components_objects_judged", float64(report.Objects), "objects"))
	must(t, figure.Print("components_judging", took, "s"))
	if report.Objects != manyObjects || report.Total != 0 {
		t.Errorf("%d objects were judged, with %d findings: %+v", report.Objects, report.Total, report.Findings)
	}
	if took > mostSeconds {
		t.Errorf("it took %.1f s, the limit is %.0f s", took, mostSeconds)
	}
}
