package operations

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Controllers is the state of the controllers of a cluster.
type Controllers struct {
	Unreadable string // why the state cannot be read: a permission is missing
	Installed  bool   // in the cluster
	Ready      bool   // in the cluster
	Leader     string // the host or pod that holds the Lease, in the cluster or not
}

// leaseValidFor is the age up to which a Lease counts as held. Clocks differ, and a leader cannot
// renew while its API server restarts.
const leaseValidFor = time.Minute

// Controllers reads the state of the controllers.
func (c *Cluster) Controllers(ctx context.Context) (Controllers, error) {
	var out Controllers
	deployment := &appsv1.Deployment{}
	switch err := c.Client.Get(ctx, c.Controller, deployment); {
	case apierrors.IsForbidden(err):
		out.Unreadable = err.Error()
	case err == nil:
		out.Installed, out.Ready = true, deployment.Status.AvailableReplicas > 0
	case !apierrors.IsNotFound(err):
		return out, fmt.Errorf("cannot get the Deployment of the controllers: %w", err)
	}
	lease := &coordinationv1.Lease{}
	switch err := c.Client.Get(ctx, c.Controller, lease); {
	case apierrors.IsForbidden(err):
		out.Unreadable = err.Error()
	case err == nil:
		out.Leader = leaderOf(lease, c.Now())
	case !apierrors.IsNotFound(err):
		return out, fmt.Errorf("cannot get the Lease of the controllers: %w", err)
	}
	return out, nil
}

// Unknown is true if no controllers were found, but there may be some.
func (c *Controllers) Unknown() bool { return c.Unreadable != "" && !c.Ready && c.Leader == "" }

// Missing returns an error with a remedy if no controllers are running.
func (c *Cluster) Missing(found Controllers) error {
	switch {
	case found.Ready, found.Leader != "":
		return nil
	case found.Installed:
		return fmt.Errorf("no controller in %s is ready. Check `kubectl -n %s get pods`, or use --standalone",
			c.Name, c.Controller.Namespace)
	}
	return fmt.Errorf("there are no controllers in %s. Run `%s install`, or use --standalone", c.Name, c.Command)
}

// ExpectControllers returns an error if no controllers would execute an upgrade, or a note for the
// user if that is unknown.
func (c *Cluster) ExpectControllers(ctx context.Context) (note string, err error) {
	found, err := c.Controllers(ctx)
	if err != nil {
		return "", err
	}
	if found.Unknown() {
		return fmt.Sprintf("Cannot determine whether there are controllers in %s: %s", c.Name, found.Unreadable), nil
	}
	return "", c.Missing(found)
}

// ExpectNoControllers returns an error if controllers run in the cluster, or a note for the user if
// those of another process lead.
func (c *Cluster) ExpectNoControllers(ctx context.Context) (note string, err error) {
	found, err := c.Controllers(ctx)
	switch {
	case err != nil:
		return "", err
	case found.Ready:
		return "", fmt.Errorf("the controllers are running in %s already. Run the command without --standalone", c.Name)
	case found.Leader != "":
		return fmt.Sprintf("Waiting for %s, which leads the controllers of %s, to release its Lease.", found.Leader, c.Name), nil
	}
	return "", nil
}

// NotLeading explains why controllers outside the cluster did not become the leader in time.
func (c *Cluster) NotLeading(ctx context.Context, timeout time.Duration) error {
	found, err := c.Controllers(ctx)
	switch {
	case err != nil:
		return err
	case found.Leader != "":
		return fmt.Errorf("%s leads the controllers of %s. Run the command without --standalone to follow it, or stop it first", found.Leader, c.Name)
	}
	return fmt.Errorf("the controllers did not become the leader within %s. Check that the namespace %s exists and that you may write Leases in it; "+
		"--log FILE writes their log", timeout, c.Controller.Namespace)
}

// leaderOf returns the holder of a Lease, a host or a pod without its unique suffix, or an empty
// string if it is not held.
func leaderOf(lease *coordinationv1.Lease, now time.Time) string {
	spec := &lease.Spec
	if spec.HolderIdentity == nil || spec.RenewTime == nil || now.Sub(spec.RenewTime.Time) > leaseValidFor {
		return ""
	}
	name, _, _ := strings.Cut(*spec.HolderIdentity, "_")
	return name
}
