package cluster

import (
	"os"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/testbed/progress"
)

func newTestbed(t *testing.T) *Testbed {
	t.Helper()
	return New(t.TempDir(), nil, progress.Discard())
}

func claimed(t *testing.T, bed *Testbed, name string) (s *state, release func()) {
	t.Helper()
	s, release, err := bed.claim(t.Context(), Spec{Name: name, ControlPlanes: 1, Workers: 2, Zones: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	return s, release
}

func TestClustersGetDistinctNumbersAndFreeOnesAreReused(t *testing.T) {
	bed := newTestbed(t)
	for i, name := range []string{"one", "two", "three"} {
		s, release := claimed(t, bed, name)
		t.Cleanup(release)
		if s.Number != i {
			t.Errorf("cluster %s has number %d, want %d", name, s.Number, i)
		}
	}
	if err := os.RemoveAll(bed.dir("two")); err != nil {
		t.Fatal(err)
	}
	s, release := claimed(t, bed, "four")
	defer release()
	if s.Number != 1 {
		t.Errorf("the free number 1 was not reused: %d", s.Number)
	}
}

func TestClaimOfExistingName(t *testing.T) {
	bed := newTestbed(t)
	_, release := claimed(t, bed, "demo")
	defer release()
	_, _, err := bed.claim(t.Context(), Spec{Name: "demo"})
	if err == nil || !strings.Contains(err.Error(), "testbed down --name demo") {
		t.Errorf("got %v, want an error with the command to remove the cluster", err)
	}
}

func TestZonesAreAssignedInTurnPerRole(t *testing.T) {
	var got []string
	for _, m := range members(Spec{Name: "demo", ControlPlanes: 3, Workers: 2, Zones: []string{"a", "b"}}) {
		got = append(got, m.Name+"="+m.Zone)
	}
	want := "demo-cp-1=a demo-cp-2=b demo-cp-3=a demo-worker-1=a demo-worker-2=b"
	if strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestPruneKeepsClustersThatAreUpOrInUse(t *testing.T) {
	bed := newTestbed(t)
	_, release := claimed(t, bed, "coming")
	defer release()
	up, releaseUp := claimed(t, bed, "up")
	up.Phase = PhaseUp
	if err := bed.save(up); err != nil {
		t.Fatal(err)
	}
	releaseUp()
	for _, name := range []string{"coming", "up"} {
		gone, err := bed.pruneCluster(t.Context(), name)
		if err != nil || gone {
			t.Errorf("cluster %s: pruned %t, %v", name, gone, err)
		}
	}
}
