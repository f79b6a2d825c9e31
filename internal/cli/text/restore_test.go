package text

import (
	"strings"
	"testing"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

func TestARestoreOfAServingEtcdWarns(t *testing.T) {
	for _, serving := range []bool{true, false} {
		got := Restore(&cliv1alpha1.Restore{Backup: "nightly", Situation: "All", Serving: serving})
		if strings.Contains(got, "discards all changes since the backup") != serving {
			t.Errorf("serving: %t:\n%s", serving, got)
		}
	}
}
