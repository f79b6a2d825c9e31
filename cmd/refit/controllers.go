package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/controller"
)

// controllers is what can be seen of those who carry operations out.
type controllers struct {
	unseen    string // why they cannot be looked at
	installed bool   // in the cluster
	ready     bool   // in the cluster
	leader    string // who holds the Lease, wherever it runs
}

// heldFor is how old a Lease may be that somebody still holds. Clocks differ, and a leader whose API server is being swapped cannot renew it.
const heldFor = time.Minute

// controllers looks for those who would carry an operation out.
func (o *operations) controllers(ctx context.Context) (controllers, error) {
	var out controllers
	key := client.ObjectKey{Namespace: controller.Namespace, Name: controller.Name}
	deployment := &appsv1.Deployment{}
	switch err := o.Get(ctx, key, deployment); {
	case apierrors.IsForbidden(err):
		out.unseen = err.Error()
	case err == nil:
		out.installed, out.ready = true, deployment.Status.AvailableReplicas > 0
	case !apierrors.IsNotFound(err):
		return out, fmt.Errorf("looking for the controllers: %w", err)
	}
	lease := &coordinationv1.Lease{}
	switch err := o.Get(ctx, key, lease); {
	case apierrors.IsForbidden(err):
		out.unseen = err.Error()
	case err == nil:
		out.leader = leaderOf(lease, o.app.now())
	case !apierrors.IsNotFound(err):
		return out, fmt.Errorf("looking who leads the controllers: %w", err)
	}
	return out, nil
}

// expectControllers refuses to begin what nobody would carry out.
func (o *operations) expectControllers(ctx context.Context) error {
	c, err := o.controllers(ctx)
	if err != nil {
		return err
	}
	if c.unseen != "" && !c.ready && c.leader == "" {
		fmt.Fprintf(o.app.err, "Whether there are controllers in %s cannot be seen: %s\n", text.Clean(o.cluster), text.Clean(c.unseen))
		return nil
	}
	return c.missing(o.cluster, o.app.name)
}

// leaderOf is who holds a Lease, empty if nobody does: a host or a pod, without the number that tells its lives apart.
func leaderOf(lease *coordinationv1.Lease, now time.Time) string {
	spec := &lease.Spec
	if spec.HolderIdentity == nil || spec.RenewTime == nil || now.Sub(spec.RenewTime.Time) > heldFor {
		return ""
	}
	name, _, _ := strings.Cut(*spec.HolderIdentity, "_")
	return name
}

// missing is why nobody would carry an operation out, nil if somebody does.
func (c *controllers) missing(cluster, program string) error {
	switch {
	case c.ready, c.leader != "":
		return nil
	case c.installed:
		return fmt.Errorf("nobody would carry the upgrade out: none of the controllers in %s runs. See `kubectl -n %s get pods`, or use --standalone",
			cluster, controller.Namespace)
	}
	return fmt.Errorf("nobody would carry the upgrade out: there are no controllers in %s. `%s install` brings them, or use --standalone", cluster, program)
}
