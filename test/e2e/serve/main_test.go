//go:build e2e

package serve

import (
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
)

func TestMain(m *testing.M) { bed.Apart(m) }
