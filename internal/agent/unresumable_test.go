package agent

import (
	"os"
	"path/filepath"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// An agent that cannot read its journal reports it instead of ending, and starts nothing.
func TestDamagedJournalIsReported(t *testing.T) {
	for situation, journal := range map[string]string{"damaged": "{}\nnot a record\n{}\n", "empty": ""} {
		t.Run(situation, func(t *testing.T) {
			a := newTestAgent(t, &apiStub{})
			a.state.Open = "upgrade-1"
			path := a.journalFile(a.state.Open)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(journal), 0o600); err != nil {
				t.Fatal(err)
			}
			err := a.resume()
			if err == nil {
				t.Fatal("the upgrade was resumed")
			}
			a.unresumable = a.cannotResume(err)
			status, known, _ := a.status.compose()
			if !known || status.Phase != refitv1alpha1.NodeFailed || status.ObservedSequence != a.state.Sequence ||
				status.Error == nil || status.Error.Remedy == "" || status.Error.Class != refitv1alpha1.FailureHostBroken {
				t.Errorf("%+v %+v", status, status.Error)
			}
		})
	}
}
