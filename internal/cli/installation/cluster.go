package installation

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/install"
)

// Cluster is a cluster that Refit is installed into or removed from: *install.Cluster.
type Cluster interface {
	Existing(ctx context.Context) (install.Existing, error)
	CheckIdle(ctx context.Context) error
	PinnedKeys(ctx context.Context) (map[string]string, error)
	Apply(ctx context.Context, objects []*unstructured.Unstructured, version string, dryRun bool, callbacks install.Callbacks) ([]install.Change, error)
	AddBackups(ctx context.Context, recipients []string) ([]install.Change, error)
	Follow(ctx context.Context, objects []*unstructured.Unstructured, callbacks install.Callbacks) (install.Progress, error)
	Survey(ctx context.Context, o install.Options) (install.Survey, error)
	Remove(ctx context.Context, o install.Options, callbacks install.Callbacks) (install.Removal, error)
}

// late turns an error that a deadline caused into a timeout.
func late(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return exit.TimeoutError{Err: fmt.Errorf("%w: increase --timeout and run the same command again to continue", err)}
	}
	return err
}
