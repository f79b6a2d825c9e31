package bed

import (
	"context"
	"testing"

	"github.com/refit-dev/refit/test/testbed"
	"github.com/refit-dev/refit/test/testbed/builder"
)

// Prometheus returns the binaries of Prometheus.
func Prometheus(t *testing.T) builder.Prometheus {
	t.Helper()
	out, err := testbed.Builder(t).Prometheus(context.WithoutCancel(t.Context()))
	Must(t, err)
	return out
}
