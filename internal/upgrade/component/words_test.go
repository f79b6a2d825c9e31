package component

import (
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Every step that a journal can have is described in words.
func TestWordsOfSteps(t *testing.T) {
	var names []string
	for _, action := range []refitv1alpha1.ComponentAction{refitv1alpha1.ActionUpgrade, refitv1alpha1.ActionRemove} {
		steps, err := StepsOf(action, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range append(steps, Rollback(steps)...) {
			names = append(names, s.Name)
		}
	}
	for _, d := range definitions {
		if numbered(d.kind) {
			names = append(names, string(d.kind)+"-2")
		} else {
			names = append(names, string(d.kind))
		}
		if d.undo != undoNothing {
			names = append(names, undoName(string(d.kind)))
		}
	}
	for _, name := range names {
		if Words(name) == name {
			t.Errorf("%s has no words", name)
		}
	}
	for name, want := range map[string]string{
		"wave-verify-old": "upgrading objects of wave verify-old", "undo-wave-rest": "rolling back objects of wave rest", "unflip": "storing objects in the old version again",
		"touch-1": "having objects reconciled", "undo-sweep": "deleting what the new version left behind", "verify-old": "verifying the old version",
		"of-a-newer-refit": "of-a-newer-refit", "checkpoint": "checkpoint", "undo-verify": "undo-verify", "": "",
	} {
		if got := Words(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
