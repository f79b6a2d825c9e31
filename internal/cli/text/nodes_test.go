package text

import (
	"testing"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

func TestNotesOfANodeByItsKubelet(t *testing.T) {
	for from, want := range map[string]string{
		"v1.35.4": "",
		"v1.36.3": "its kubelet is at v1.36.3 already",
		"v1.36.5": "its kubelet is at v1.36.5, which is newer",
		"v1.37.1": "its kubelet is at v1.37.1, which is newer",
		"unknown": "",
	} {
		stage := &cliv1alpha1.Stage{Kubernetes: "v1.36.3"}
		if got := notesOf(stage, &cliv1alpha1.Pool{}, &cliv1alpha1.Node{Name: "worker-1", From: from}); got != want {
			t.Errorf("%s: %q, want %q", from, got, want)
		}
	}
}
