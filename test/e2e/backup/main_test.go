//go:build e2e

package backup

import (
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
)

// The tests mount small file systems.
func TestMain(m *testing.M) { bed.Apart(m) }
