package install

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// ErrNotInstalled is returned if no object of Refit exists in the cluster.
var ErrNotInstalled = errors.New("no installation of Refit found in this cluster")

// Removal is the result of Remove.
type Removal struct {
	Changes    []Change
	Uncordoned []string
	// Nodes are the states of the hosts: Done has no agent any more, Unreachable is not ready and
	// still has its agent.
	Nodes []NodeProgress
}

// removeRun is one call of Remove.
type removeRun struct {
	*Cluster
	options   Options
	callbacks Callbacks
	refs      []Ref
	out       Removal
}

// removal lists the steps of Remove in order. Every step is idempotent: an interrupted removal
// starts again with the first one.
var removal = []struct {
	name string
	do   func(*removeRun, context.Context) error
}{
	{"checking that no operation is unfinished", func(r *removeRun, ctx context.Context) error { return r.CheckIdle(ctx) }},
	{"uncordoning the nodes that Refit cordoned", (*removeRun).uncordonNodes},
	{"stopping the controller", (*removeRun).removeController},
	{"stopping refit-components", (*removeRun).removeComponents},
	// Or it would install them again.
	{"stopping the installation of agents", (*removeRun).removePlacer},
	{"removing the agents from the hosts", (*removeRun).removeFromHosts},
	{"removing Refit's objects", (*removeRun).removeObjects},
}

// Remove removes Refit from a cluster and its hosts. It uses the image o.Agent if the user
// chose it or the cluster has no other. Steps that completed before an error are not undone.
func (c *Cluster) Remove(ctx context.Context, o Options, callbacks Callbacks) (Removal, error) {
	survey, err := c.Survey(ctx, o)
	if err != nil {
		return Removal{}, err
	}
	if !survey.Installed() {
		return Removal{}, ErrNotInstalled
	}
	r := &removeRun{Cluster: c, options: o, callbacks: callbacks}
	if r.refs, err = c.removable(ctx, o); err != nil {
		return r.out, err
	}
	for _, step := range removal {
		callbacks.step(step.name)
		if err := step.do(r, ctx); err != nil {
			return r.out, err
		}
	}
	return r.out, nil
}

func (r *removeRun) uncordonNodes(ctx context.Context) (err error) {
	r.out.Uncordoned, err = r.uncordon(ctx)
	return err
}

// delete deletes an object and reports it.
func (r *removeRun) delete(ctx context.Context, ref Ref) error {
	action, err := r.deleteIf(ctx, ref, isRemovable, false)
	if err != nil || action == "" {
		return err
	}
	change := Change{Ref: ref, Action: action}
	r.out.Changes = append(r.out.Changes, change)
	r.callbacks.object(change)
	return nil
}

func (r *removeRun) removeController(ctx context.Context) error {
	if err := r.delete(ctx, controllerRef); err != nil {
		return err
	}
	return r.waitForPodsDeleted(ctx, SystemNamespace, controllerName, r.callbacks)
}

// removeComponents stops refit-components before its orders are deleted. The Helm releases that it
// installed stay.
func (r *removeRun) removeComponents(ctx context.Context) error {
	if err := r.delete(ctx, componentsRef); err != nil {
		return err
	}
	if err := r.waitForPodsDeleted(ctx, ComponentsNamespace, componentsName, r.callbacks); err != nil {
		return err
	}
	return r.liftFreezes(ctx)
}

// liftFreezes lifts freezes that refit-components has left, for example because it was killed and
// could not be started again: nobody else does.
func (r *removeRun) liftFreezes(ctx context.Context) error {
	isFreeze := func(o *unstructured.Unstructured) bool { return o.GetLabels()[refitv1alpha1.LabelFreeze] != "" }
	for _, ref := range []Ref{
		{APIVersion: "admissionregistration.k8s.io/v1", Resource: "validatingadmissionpolicybindings", Kind: "ValidatingAdmissionPolicyBinding"},
		{APIVersion: "admissionregistration.k8s.io/v1", Resource: "validatingadmissionpolicies", Kind: "ValidatingAdmissionPolicy"},
	} {
		found, err := r.at(ref).List(ctx, metav1.ListOptions{LabelSelector: refitv1alpha1.LabelFreeze})
		if err != nil {
			return fmt.Errorf("cannot list freezes: %w", err)
		}
		for i := range found.Items {
			ref.Name = found.Items[i].GetName()
			if _, err := r.deleteIf(ctx, ref, isFreeze, false); err != nil {
				return err
			}
		}
	}
	return nil
}
