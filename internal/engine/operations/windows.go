package operations

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

var errNoWindow = errors.New("there is no MaintenanceWindow")

// Window describes a MaintenanceWindow with its next openings.
func (c *Cluster) Window(ctx context.Context, name string, openings int) (*cliv1alpha1.Window, error) {
	w := &refitv1alpha1.MaintenanceWindow{}
	err := c.Client.Get(ctx, client.ObjectKey{Name: name}, w)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w %s in %s: `kubectl get maintenancewindows` lists them", errNoWindow, name, c.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get MaintenanceWindow %s: %w", name, err)
	}
	return progress.NewWindow(c.Name, w, openings, c.Now()), nil
}

// WindowNames returns the names of all MaintenanceWindows.
func (c *Cluster) WindowNames(ctx context.Context) ([]string, error) {
	var all refitv1alpha1.MaintenanceWindowList
	if err := c.Client.List(ctx, &all); err != nil {
		return nil, c.unreadable("MaintenanceWindows", err)
	}
	var out []string
	for i := range all.Items {
		out = append(out, all.Items[i].Name)
	}
	return out, nil
}
