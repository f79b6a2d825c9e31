package bed

import (
	"context"
	"testing"

	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/builder"
)

// Addon returns the two versions of an add-on between which a test upgrades it.
func Addon(t *testing.T, name string) (before, after builder.Addon) {
	t.Helper()
	before, after, err := testbed.Builder(t).Addon(context.WithoutCancel(t.Context()), name)
	Must(t, err)
	return before, after
}
