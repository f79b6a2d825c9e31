package components

import (
	"context"
	"errors"
	"fmt"
	"slices"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/progress"
)

// notAdopted is the problem that an adoption fixes.
const notAdopted = "ComponentNotAdopted"

// Adopter lets Refit take over the Helm releases of components.
type Adopter struct {
	Cluster string // the user's name for it
	Command string // what the user types to run the CLI
	DryRun  bool
	// Write sets spec.adopt, or tries it.
	Write func(ctx context.Context, name string, dryRun bool) error
}

// Adopt lets Refit take over the Helm release of a component. It changes nothing if Refit has taken
// it over, and refuses what another tool manages.
func (a *Adopter) Adopt(ctx context.Context, c *refitv1alpha1.Component) (*cliv1alpha1.Adoption, error) {
	state := progress.NewComponentState(c, nil)
	out := &cliv1alpha1.Adoption{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindAdoption, Cluster: a.Cluster, Component: c.Name, DryRun: a.DryRun, Installed: state.Installed,
	}
	if err := adoptable(c); err != nil {
		return nil, err
	}
	switch {
	case c.Status.Owner == refitv1alpha1.OwnerRefit:
		out.Message = fmt.Sprintf("Refit has installed or taken over %s already. Nothing was changed.", c.Name)
		return out, nil
	case c.Status.Owner == refitv1alpha1.OwnerNone:
		out.Message = fmt.Sprintf("%s is not installed, so there is nothing to take over: an upgrade installs it. Nothing was changed.", c.Name)
		return out, nil
	case c.Spec.Adopt:
		out.Message = fmt.Sprintf("%s is adopted already: Refit takes it over with the next upgrade. Nothing was changed.", c.Name)
	default:
		if err := a.Write(ctx, c.Name, a.DryRun); err != nil {
			return nil, err
		}
		out.Changed = true
		out.Message = fmt.Sprintf("Adopted %s: Refit takes it over with the next upgrade, and nothing in the cluster changes before. ", c.Name)
		if a.DryRun {
			out.Message = fmt.Sprintf("Refit would take over %s with the next upgrade. Nothing was changed. ", c.Name)
		}
		out.Message += "The values of the Helm release are not taken over: add those that you need to spec.values of the Component."
	}
	out.Offers = state.Offers
	for i := range out.Offers {
		o := &out.Offers[i]
		o.Problems = slices.DeleteFunc(o.Problems, func(p cliv1alpha1.ComponentProblem) bool { return p.Reason == notAdopted })
	}
	if !a.DryRun {
		a.next(out)
	}
	return out, nil
}

// adoptable refuses components that Refit must not change.
func adoptable(c *refitv1alpha1.Component) error {
	const manage = "`kubectl patch component %s --type merge -p '{\"spec\":{\"manage\":\"%s\"}}'`"
	switch owner := c.Status.Owner; {
	case owner == refitv1alpha1.OwnerFlux, owner == refitv1alpha1.OwnerArgoCD:
		return fmt.Errorf("%s manages %s and would undo an upgrade, so Refit does not take it over. "+
			"Upgrade it with %s, and let upgrades of the cluster wait for it: "+manage, owner, c.Name, owner, c.Name, refitv1alpha1.ManageObserve)
	case c.Spec.Manage == refitv1alpha1.ManageObserve:
		return fmt.Errorf("spec.manage of Component %s is Observe: another tool changes it. If Refit is to change it: "+manage,
			c.Name, c.Name, refitv1alpha1.ManageRefit)
	case owner == "":
		return errors.New("refit-components has not read the component yet, so its owner is unknown. " +
			"Check that it runs: `kubectl -n refit-components get pods`, `kubectl -n refit-components logs deployment/refit-components`")
	}
	return nil
}

func (a *Adopter) next(out *cliv1alpha1.Adoption) {
	add := func(purpose, format string, args ...any) {
		out.Next = append(out.Next, cliv1alpha1.NextStep{Purpose: purpose, Command: fmt.Sprintf(format, args...)})
	}
	if i := out.Installed; i != nil {
		add("Show the values of the Helm release", "helm get values %s -n %s", i.Release, i.Namespace)
		add("Set your values", "kubectl edit component %s", out.Component)
	}
	add("Show what changes in each object", "%s components diff %s", a.Command, out.Component)
}
