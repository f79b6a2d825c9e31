package clusterupgrade

import (
	"math"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func operationAt(epoch int64) *refitv1alpha1.ClusterUpgrade {
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "to-v1.36", UID: "op"}}
	u.Status.Epoch = epoch
	return u
}

func reportOf(node string, accepted int64) *refitv1alpha1.NodeReport {
	r := &refitv1alpha1.NodeReport{ObjectMeta: metav1.ObjectMeta{Name: node}}
	r.Status.AcceptedEpoch = accepted
	return r
}

// lead lets the Reconciler lead the stored operation, and returns its epoch.
func (s *scene) lead() (int64, error) {
	s.t.Helper()
	u := &refitv1alpha1.ClusterUpgrade{}
	if err := s.Client.Get(s.t.Context(), types.NamespacedName{Name: "to-v1.36"}, u); err != nil {
		s.t.Fatal(err)
	}
	err := s.ensureEpoch(s.t.Context(), u)
	return u.Status.Epoch, err
}

func (s *scene) wantEpoch(want int64) {
	s.t.Helper()
	if got, err := s.lead(); err != nil || got != want {
		s.t.Errorf("the epoch is %d (%v), want %d", got, err, want)
	}
}

func TestANewLeaderStartsAboveEveryEpochThatAHostAccepted(t *testing.T) {
	s := newScene(t, operationAt(0), reportOf("cp-1", 40), reportOf("worker-1", 7))
	s.wantEpoch(41)
}

func TestALeaderRaisesItsEpochWhenAHostReportsAHigherOneLater(t *testing.T) {
	s := newScene(t, operationAt(0))
	s.wantEpoch(1)
	s.wantEpoch(1) // once is enough
	if err := s.Client.Create(t.Context(), reportOf("worker-1", 40)); err != nil {
		t.Fatal(err)
	}
	s.wantEpoch(41)
	s.wantEpoch(41)
}

func TestALeaderRaisesItsEpochAgainAfterARestoreOfEtcd(t *testing.T) {
	s := newScene(t, operationAt(6))
	s.wantEpoch(7)
	restored := &refitv1alpha1.ClusterUpgrade{}
	if err := s.Client.Get(t.Context(), types.NamespacedName{Name: "to-v1.36"}, restored); err != nil {
		t.Fatal(err)
	}
	restored.Status.Epoch = 3
	if err := s.Client.Status().Update(t.Context(), restored); err != nil {
		t.Fatal(err)
	}
	s.wantEpoch(8)
}

func TestALeaderStopsWhenAnotherOneHasRaisedTheEpoch(t *testing.T) {
	s := newScene(t, operationAt(6))
	s.wantEpoch(7)
	s.epochs.set("op", 6)
	if _, err := s.lead(); err == nil {
		t.Error("the former leader continues")
	}
}

func TestAReportCannotExhaustTheEpochs(t *testing.T) {
	s := newScene(t, operationAt(3), reportOf("worker-1", math.MaxInt64), reportOf("worker-2", 12))
	s.wantEpoch(13)
}
