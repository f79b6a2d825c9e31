//go:build apiserver

package components

import (
	"log/slog"
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/refit-dev/refit/test/apiserver"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	slog.SetDefault(slog.New(slog.DiscardHandler)) // Helm's
	os.Exit(apiserver.Main(m))
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
