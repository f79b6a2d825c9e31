package steps

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/helm"
)

func runOf(uid types.UID) *Run {
	return &Run{Owner: &refitv1alpha1.ComponentUpgrade{
		ObjectMeta: metav1.ObjectMeta{Name: "queue", UID: uid},
		Status: refitv1alpha1.ComponentUpgradeStatus{
			Journal: 1, Order: &refitv1alpha1.ComponentOrder{Operation: refitv1alpha1.Operation{Name: strings.Repeat("o", 63)}},
		},
	}}
}

// TestMarksOfARecreatedJournal: a revision with the mark of a step counts as that step, done.
func TestMarksOfARecreatedJournal(t *testing.T) {
	const first, second = "2f1b6f1e-5a3e-4f0e-9a55-0d8f6f0c1111", "91c0a0aa-5a3e-4f0e-9a55-0d8f6f0c1111"
	step := "wave-" + strings.Repeat("w", 20)
	if a, b := runOf(first).mark(step), runOf(second).mark(step); a == b {
		t.Errorf("both journals have the mark %s", a)
	}
	a, b := runOf(first).mark(step), runOf(first).mark(step)
	if a != b {
		t.Errorf("%s, then %s", a, b)
	}
	record := helm.Record{Description: a.String()}
	if mark, ours := record.Mark(); !ours || mark != a {
		t.Errorf("%s is read as %v, %v", a, mark, ours)
	}
}
