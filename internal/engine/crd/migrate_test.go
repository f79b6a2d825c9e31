package crd

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestACommitOfACRDThatSomebodyElseHasChanged: nothing is rolled back any more, so that a failure
// would be the same with each retry.
func TestACommitOfACRDThatSomebodyElseHasChanged(t *testing.T) {
	for situation, c := range map[string]struct {
		storage string
		stored  []string
		deleted bool
		fails   bool
	}{
		"its objects are in the new version only": {storage: "v2", stored: []string{"v2"}},
		"it was deleted":                     {deleted: true},
		"its storage version is the old one": {storage: "v1", stored: []string{"v1"}, fails: true},
		"it has objects in the old version":  {storage: "v2", stored: []string{"v1", "v2"}, fails: true},
	} {
		t.Run(situation, func(t *testing.T) {
			change := change(t, "new-fields-are-within-the-old")
			live := change.New.DeepCopy()
			setStorage(live, c.storage)
			live.Spec.Names.Categories = []string{"all"}
			live.Status.StoredVersions = c.stored
			actor := actorOf(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case !strings.HasSuffix(r.URL.Path, "/"+live.Name):
					respond(w, http.StatusOK, map[string]any{"kind": "List", "items": []any{}})
				case c.deleted:
					missing := apierrors.NewNotFound(apiextensionsv1.Resource("customresourcedefinitions"), live.Name).ErrStatus
					missing.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
					respond(w, http.StatusNotFound, missing)
				case r.Method == http.MethodGet:
					respond(w, http.StatusOK, live)
				case r.URL.Query().Get("dryRun") == metav1.DryRunAll:
					respond(w, http.StatusOK, change.New)
				default:
					t.Errorf("%s %s", r.Method, r.URL)
				}
			})
			var skipped []string
			err := actor.Commit(t.Context(), []Change{change}, CommitOptions{Rewrite: true, Skipped: func(e *ChangedError) { skipped = append(skipped, e.Name) }})
			if _, changed := errors.AsType[*ChangedError](err); changed != c.fails || (err != nil) != c.fails {
				t.Errorf("Commit() = %v", err)
			}
			if c.fails && !strings.Contains(err.Error(), "version v2 only") {
				t.Errorf("the error does not name the storage version: %v", err)
			}
			if !c.fails && (len(skipped) != 1 || skipped[0] != live.Name) {
				t.Errorf("it skipped %v", skipped)
			}
		})
	}
}
