package install

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// establishWithin is how long the API server may take to serve a definition.
const establishWithin = time.Minute

// Action is what becomes of an object.
type Action string

// The actions.
const (
	Created   Action = "Created"
	Changed   Action = "Changed"
	Unchanged Action = "Unchanged"
	Removed   Action = "Removed"
	Left      Action = "Left" // it is not ours
)

// Change is what became of one object, or would.
type Change struct {
	Ref
	Action Action
	// Fields are those that differ, of an object that changes.
	Fields []string
	// Unchecked is an object that no server looked at, since its namespace is not there yet.
	Unchecked bool
}

// Apply brings objects into the cluster, and removes what an earlier install brought and this one does not. With dryRun the server only says what would
// become of them. What is done can be done again: equal objects change nothing.
func (c *Cluster) Apply(ctx context.Context, objects []*unstructured.Unstructured, version string, dryRun bool, told Told) ([]Change, error) {
	if err := c.refuseOld(ctx); err != nil {
		return nil, err
	}
	if err := c.refuseBusy(ctx); err != nil {
		return nil, err
	}
	refs, err := refsOf(objects)
	if err != nil {
		return nil, err
	}
	before, err := c.inventory(ctx)
	if err != nil {
		return nil, err
	}
	a := &applying{Cluster: c, dryRun: dryRun, told: told, missing: map[string]bool{}}
	namespaces := split(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() != kindNamespace })
	rest := objects[namespaces:]
	workloads := split(rest, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == kindDeployment || o.GetKind() == kindDaemonSet
	})
	if err := a.all(ctx, objects[:namespaces]); err != nil {
		return a.changes, err
	}
	// What is about to come is written down first: whatever happens on the way, the next install or removal knows of it.
	after := Inventory{Version: version, Agent: agentImage(objects)}
	if err := a.keep(ctx, after.with(before.Objects).with(refs)); err != nil {
		return a.changes, err
	}
	if err := a.all(ctx, rest[:workloads]); err != nil {
		return a.changes, err
	}
	if err := a.prune(ctx, before.unwanted(refs)); err != nil {
		return a.changes, err
	}
	if err := a.all(ctx, rest[workloads:]); err != nil {
		return a.changes, err
	}
	return a.changes, a.keep(ctx, after.with(refs))
}

// agentImage is the image that agents are placed from.
func agentImage(objects []*unstructured.Unstructured) string {
	for _, object := range objects {
		if object.GetKind() == kindDaemonSet {
			return imageOf(object)
		}
	}
	return ""
}

// split is how many objects come before the first of some.
func split(objects []*unstructured.Unstructured, first func(o *unstructured.Unstructured) bool) int {
	if at := slices.IndexFunc(objects, first); at >= 0 {
		return at
	}
	return len(objects)
}

// applying is one run of Apply.
type applying struct {
	*Cluster
	dryRun  bool
	told    Told
	changes []Change
	missing map[string]bool // namespaces that a dry run would have made
}

func (a *applying) all(ctx context.Context, objects []*unstructured.Unstructured) error {
	var definitions []Ref
	for _, object := range objects {
		if object.GetKind() != kindCRD {
			if err := a.established(ctx, definitions); err != nil {
				return err
			}
			definitions = nil
		}
		change, err := a.one(ctx, object)
		if err != nil {
			return err
		}
		if object.GetKind() == kindCRD {
			definitions = append(definitions, change.Ref)
		}
		a.tell(change)
	}
	return a.established(ctx, definitions)
}

func (a *applying) tell(change Change) {
	a.changes = append(a.changes, change)
	a.told.object(change)
}

func (a *applying) options() metav1.ApplyOptions {
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: true} // our own fields are ours again, whoever changed them
	if a.dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return options
}

func (a *applying) one(ctx context.Context, object *unstructured.Unstructured) (Change, error) {
	ref, err := refOf(object)
	if err != nil {
		return Change{}, err
	}
	if a.missing[ref.Namespace] {
		return Change{Ref: ref, Action: Created, Unchecked: true}, nil
	}
	before, err := a.get(ctx, ref)
	if err != nil {
		return Change{}, err
	}
	if before != nil && ref.Kind == kindNamespace && !ours(before) {
		return Change{}, fmt.Errorf("the namespace %s is there already and not Refit's; with Refit it would be removed one day. If it is meant for Refit, "+
			"say so: kubectl label namespace %s %s=%s", ref.Name, ref.Name, labelManagedBy, managedBy)
	}
	after, err := a.at(ref).Apply(ctx, ref.Name, object, a.options())
	if err != nil {
		return Change{}, fmt.Errorf("applying %s: %w", ref, err)
	}
	if before == nil {
		a.missing[ref.Name] = a.dryRun && ref.Kind == kindNamespace
		return Change{Ref: ref, Action: Created}, nil
	}
	change := Change{Ref: ref, Action: Unchanged, Fields: differing(before, after)}
	if len(change.Fields) > 0 {
		change.Action = Changed
	}
	return change, nil
}

// keep writes the inventory down. It is no news to anybody.
func (a *applying) keep(ctx context.Context, inventory Inventory) error {
	if a.dryRun {
		return nil
	}
	if _, err := a.at(inventoryRef).Apply(ctx, inventoryName, inventory.object(), a.options()); err != nil {
		return fmt.Errorf("writing the inventory: %w", err)
	}
	return nil
}

// established waits until the server serves the objects of definitions.
func (a *applying) established(ctx context.Context, definitions []Ref) error {
	if a.dryRun || len(definitions) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, establishWithin)
	defer cancel()
	for _, ref := range definitions {
		err := until(ctx, ref.String()+" to be established", settleEvery, func() (bool, error) {
			found, err := a.get(ctx, ref)
			return found != nil && condition(found, "Established"), err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// condition says whether a condition of an object is True.
func condition(object *unstructured.Unstructured, name string) bool {
	all, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	return slices.ContainsFunc(all, func(each any) bool {
		fields, ok := each.(map[string]any)
		return ok && fields["type"] == name && fields["status"] == "True"
	})
}
