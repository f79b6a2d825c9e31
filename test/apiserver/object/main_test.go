//go:build apiserver

package object

import (
	"os"
	"testing"

	"github.com/refit-dev/refit/test/apiserver"
)

func TestMain(m *testing.M) { os.Exit(apiserver.Main(m)) }
