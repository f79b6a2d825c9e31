package operations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// Cluster is a cluster whose operations are started, changed and followed.
type Cluster struct {
	Client client.WithWatch

	Name    string // the user's name for the cluster
	Command string // the command that the user types to run the CLI, for remedies
	Now     func() time.Time
	// APIServers lets clients use another API server if one does not respond. It is nil if they
	// only use the address of the kubeconfig.
	APIServers *APIServers
	// Controller is the namespace and name of the controllers' Deployment and Lease.
	Controller client.ObjectKey
}

// The page sizes of lists. A ClusterUpgrade may have 144 KiB, and those that ended are kept.
const (
	operationsPerPage = 50
	ordersPerPage     = 500
)

// List returns all operations, the oldest first.
func (c *Cluster) List(ctx context.Context) ([]refitv1alpha1.ClusterUpgrade, error) {
	var out []refitv1alpha1.ClusterUpgrade
	for token, more := "", true; more; more = token != "" {
		var page refitv1alpha1.ClusterUpgradeList
		if err := c.Client.List(ctx, &page, client.Limit(operationsPerPage), client.Continue(token)); err != nil {
			return nil, c.unreadable("ClusterUpgrades", err)
		}
		out, token = append(out, page.Items...), page.Continue
	}
	slices.SortFunc(out, byAge)
	return out, nil
}

func byAge(a, b refitv1alpha1.ClusterUpgrade) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// Progress reads the progress of an operation.
func (c *Cluster) Progress(ctx context.Context, u *refitv1alpha1.ClusterUpgrade) (*cliv1alpha1.Operation, error) {
	orders, err := c.orders(ctx)
	if err != nil {
		return nil, err
	}
	return progress.NewOperation(c.Name, u, orders, c.Now()), nil
}

// orders returns the orders to all nodes.
func (c *Cluster) orders(ctx context.Context) ([]*refitv1alpha1.NodeUpgrade, error) {
	var out []*refitv1alpha1.NodeUpgrade
	for token, more := "", true; more; more = token != "" {
		var page refitv1alpha1.NodeUpgradeList
		if err := c.Client.List(ctx, &page, client.Limit(ordersPerPage), client.Continue(token)); err != nil {
			return nil, c.unreadable("NodeUpgrades", err)
		}
		for i := range page.Items {
			out = append(out, &page.Items[i])
		}
		token = page.Continue
	}
	return out, nil
}

// ErrNotInstalled is the error of a cluster without Refit's CRDs.
var ErrNotInstalled = errors.New("cannot find Refit")

// Installed returns ErrNotInstalled for a cluster without Refit.
func (c *Cluster) Installed(ctx context.Context) error {
	if err := c.Client.List(ctx, &refitv1alpha1.ClusterUpgradeList{}, client.Limit(1)); err != nil {
		return c.unreadable("ClusterUpgrades", err)
	}
	return nil
}

// unreadable returns the error of a failed list of Refit's objects.
func (c *Cluster) unreadable(kind string, err error) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("%w in %s: run `%s install`", ErrNotInstalled, c.Name, c.Command)
	}
	return fmt.Errorf("cannot list %s: %w", kind, err)
}

// Change changes the spec of an operation. An exact change is one whose new value depends on the
// old one: it is applied again to what another user wrote in the meantime.
func (c *Cluster) Change(ctx context.Context, name string, exact bool, change func(*refitv1alpha1.ClusterUpgradeSpec)) error {
	_, err := c.change(ctx, name, exact, func(*refitv1alpha1.ClusterUpgrade) error { return nil }, change)
	return err
}

// ChangeIf changes the spec of an operation unless expect returns an error for what the API server
// has. It returns the changed operation.
func (c *Cluster) ChangeIf(
	ctx context.Context, name string, expect func(*refitv1alpha1.ClusterUpgrade) error, change func(*refitv1alpha1.ClusterUpgradeSpec),
) (*refitv1alpha1.ClusterUpgrade, error) {
	return c.change(ctx, name, true, expect, change)
}

func (c *Cluster) change(
	ctx context.Context, name string, exact bool, expect func(*refitv1alpha1.ClusterUpgrade) error, change func(*refitv1alpha1.ClusterUpgradeSpec),
) (changed *refitv1alpha1.ClusterUpgrade, err error) {
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		changed = &refitv1alpha1.ClusterUpgrade{}
		if err := c.Client.Get(ctx, client.ObjectKey{Name: name}, changed); err != nil {
			return err
		}
		if err := expect(changed); err != nil {
			return err
		}
		patch := client.MergeFromWithOptions(changed.DeepCopy())
		if exact {
			patch = client.MergeFromWithOptions(changed.DeepCopy(), client.MergeFromWithOptimisticLock{})
		}
		change(&changed.Spec)
		return c.Client.Patch(ctx, changed, patch)
	})
	if err != nil {
		return nil, fmt.Errorf("cannot change the operation %s: %w", name, err)
	}
	return changed, nil
}
