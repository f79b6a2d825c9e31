package components

import (
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestWhatAStepWaitsForHasNoSecrets(t *testing.T) {
	_, c := newWorld(t, frozen(refitv1alpha1.PermitApply))
	j, err := readJournal(t.Context(), c, name, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.wait(t.Context(), "cannot log in: password=hunter2"); err != nil {
		t.Fatal(err)
	}
	if got := j.object.Status.Waiting; !strings.HasPrefix(got, "cannot log in") || strings.Contains(got, "hunter2") {
		t.Errorf("waiting is %q", got)
	}
}
