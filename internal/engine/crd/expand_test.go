package crd

import (
	"os"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/engine/crd/crdtest"
)

// change reads one change that has no objects.
func change(t *testing.T, name string) Change {
	t.Helper()
	c, err := crdtest.Read(os.DirFS("testdata"), "storage/"+name+".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return Change{Old: c.Old, New: c.New}
}

func TestStorageVersionIsKeptWhereNothingIsLost(t *testing.T) {
	for name, want := range map[string]struct {
		mode    Mode
		message string
	}{
		"same-storage-version":             {SameStorage, "stays v1"},
		"new-fields-are-within-the-old":    {KeepStorage, "it has all fields of v2"},
		"conversion-webhook":               {KeepStorage, "the conversion webhook converts from v2"},
		"old-version-preserves-everything": {KeepStorage, "it has all fields of v2"},
		"new-version-has-another-field":    {FlipStorage, "version v1 has no field spec.color and would drop it"},
		"new-version-has-another-status":   {FlipStorage, "version v1 has no field status.phase and would drop it"},
		"new-version-preserves-everything": {FlipStorage, "version v1 has no field spec.values.* and would drop it"},
		"new-version-has-a-map":            {FlipStorage, "version v1 has no field spec.limits[*] and would drop it"},
		"new-field-in-list-and-map":        {FlipStorage, "version v1 has no field spec.byName[*].port, spec.rules[*].port and would drop it"},
		"many-new-fields":                  {FlipStorage, "version v1 has no field spec.a, spec.b, spec.c, spec.d, spec.e and 2 more"},
		"old-version-removed":              {FlipStorage, "the new CRD has no version v1"},
	} {
		t.Run(name, func(t *testing.T) {
			c := change(t, name)
			applied, got := Expand(c)
			if got.Mode != want.mode || !strings.Contains(got.Message, want.message) {
				t.Errorf("the decision is %+v, want %s: %s", got, want.mode, want.message)
			}
			storage := got.To
			if got.Mode == KeepStorage {
				storage = got.From
			}
			if StorageVersion(applied) != storage || len(applied.Spec.Versions) != len(c.New.Spec.Versions) {
				t.Errorf("the applied CRD stores %s, want %s", StorageVersion(applied), storage)
			}
			committed, err := Commit(applied, got.To)
			if err != nil || StorageVersion(committed) != StorageVersion(c.New) {
				t.Errorf("the committed CRD stores %s: %v", StorageVersion(committed), err)
			}
			if StorageVersion(applied) != storage {
				t.Error("Commit changed its argument")
			}
		})
	}
}

func TestCommitRefusesAnUnknownVersion(t *testing.T) {
	if _, err := Commit(change(t, "same-storage-version").New, "v9"); err == nil || !strings.Contains(err.Error(), "it has no version v9") {
		t.Errorf("the error is %v", err)
	}
}

func TestObjectsAreReadInOneVersionWithoutWebhook(t *testing.T) {
	for name, want := range map[string]string{
		"same-storage-version":          "v1",
		"new-fields-are-within-the-old": "v1",
		"conversion-webhook":            "v1 v2",
		"old-version-removed":           "v1", // the new CRD has none of the served versions
	} {
		if got := strings.Join(VersionsToRead(change(t, name)), " "); got != want {
			t.Errorf("%s: objects are read in %q, want %q", name, got, want)
		}
	}
}
