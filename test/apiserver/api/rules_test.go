//go:build apiserver

package api

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/refit-dev/refit/test/apiserver"
)

var dryRun = []string{metav1.DryRunAll}

func TestRules(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		for _, try := range allTryouts() {
			t.Run(try.String(), func(t *testing.T) {
				err := attempt(t, s, try)
				switch {
				case try.refused == "" && err != nil:
					t.Errorf("refused: %v", err)
				case try.refused != "" && err == nil:
					t.Errorf("let through")
				case err != nil && !strings.Contains(err.Error(), try.refused):
					t.Errorf("refused, but not for %q: %v", try.refused, err)
				}
			})
		}
	})
}

// attempt tries a write as a dry run.
func attempt(t *testing.T, s *apiserver.Server, try tryout) error {
	t.Helper()
	client := objects(t, s.RESTConfig(), try.kind)
	if try.was == nil {
		wanted := &unstructured.Unstructured{Object: changed(t, smallest(try.kind, "tryout"), try.now)}
		_, err := client.Create(t.Context(), wanted, metav1.CreateOptions{DryRun: dryRun})
		return err
	}
	stored := made(t, s, changed(t, smallest(try.kind, "tryout"), try.was))
	wanted := &unstructured.Unstructured{Object: changed(t, stored.Object, try.now)}
	for path := range try.now {
		if strings.HasPrefix(path, "status") {
			_, err := client.UpdateStatus(t.Context(), wanted, metav1.UpdateOptions{DryRun: dryRun})
			return err
		}
	}
	_, err := client.Update(t.Context(), wanted, metav1.UpdateOptions{DryRun: dryRun})
	return err
}

func changed(t *testing.T, object map[string]any, changes fields) map[string]any {
	t.Helper()
	for path, value := range changes {
		object = with(t, object, path, value)
	}
	return object
}
