package installation

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/install"
)

// silent is a cluster whose API server accepts requests and does not answer.
type silent struct{ Cluster }

func (silent) Existing(ctx context.Context) (install.Existing, error) {
	<-ctx.Done()
	return install.Existing{}, ctx.Err()
}

func TestInstallEndsIfTheAPIServerDoesNotAnswer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := (&Installer{Timeout: time.Millisecond}).Install(ctx, silent{}, "prod")
	if _, late := errors.AsType[exit.TimeoutError](err); !late || ctx.Err() != nil {
		t.Errorf("Install() = %v", err)
	}
}
