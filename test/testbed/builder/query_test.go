package builder

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/refit-dev/refit/test/testbed/progress"
)

func TestQueryOfUnsupportedRelease(t *testing.T) {
	_, err := New(t.TempDir(), progress.Discard()).Query(t.Context(), "v1.20.0", fstest.MapFS{})
	if err == nil || !strings.Contains(err.Error(), "v1.20.0") {
		t.Errorf("got %v", err)
	}
}
