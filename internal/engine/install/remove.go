package install

import (
	"context"
	"errors"
)

// ErrNotInstalled is a cluster in which there is nothing of Refit's to remove.
var ErrNotInstalled = errors.New("there is nothing of Refit in this cluster")

// Removal is what became of everything.
type Removal struct {
	Changes    []Change
	Uncordoned []string
	// Nodes say how far their hosts are: Done is a host without an agent, Away one that could not be reached and has its agent still.
	Nodes []NodeProgress
}

// removing is one run of Remove.
type removing struct {
	*Cluster
	options Options
	told    Told
	refs    []Ref
	out     Removal
}

// removal is the order in which Refit leaves a cluster. Each step can be done again: a removal that was cut off is begun anew.
var removal = []struct {
	says string
	do   func(*removing, context.Context) error
}{
	{"seeing that no operation is unfinished", func(r *removing, ctx context.Context) error { return r.refuseBusy(ctx) }},
	{"lifting the cordons that Refit made", (*removing).liftCordons},
	{"ending the controller", (*removing).endController},
	{"ending the placing of agents", (*removing).endPlacing}, // nobody may place again what is about to go
	{"removing the agents from the hosts", (*removing).clearHosts},
	{"removing Refit's objects", (*removing).removeObjects},
}

// Remove takes Refit out of a cluster and off its hosts. o.Agent is the image that is used where no other is known. What it does before an error stays done.
func (c *Cluster) Remove(ctx context.Context, o Options, told Told) (Removal, error) {
	survey, err := c.Survey(ctx, o)
	if err != nil {
		return Removal{}, err
	}
	if !survey.Installed() {
		return Removal{}, ErrNotInstalled
	}
	r := &removing{Cluster: c, options: o, told: told}
	if r.refs, err = c.removable(ctx, o); err != nil {
		return r.out, err
	}
	for _, step := range removal {
		told.doing(step.says)
		if err := step.do(r, ctx); err != nil {
			return r.out, err
		}
	}
	return r.out, nil
}

func (r *removing) liftCordons(ctx context.Context) (err error) {
	r.out.Uncordoned, err = r.uncordon(ctx)
	return err
}

// end removes one object, and tells.
func (r *removing) end(ctx context.Context, ref Ref) error {
	action, err := r.removeOurs(ctx, ref, false)
	if err != nil || action == "" {
		return err
	}
	change := Change{Ref: ref, Action: action}
	r.out.Changes = append(r.out.Changes, change)
	r.told.object(change)
	return nil
}

func (r *removing) endController(ctx context.Context) error {
	if err := r.end(ctx, runningRef); err != nil {
		return err
	}
	return r.podsGone(ctx, SystemNamespace, controllerName)
}
