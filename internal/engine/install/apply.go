package install

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// establishTimeout is how long the API server may take to serve a CRD.
const establishTimeout = time.Minute

// Action is what Refit does with an object.
type Action string

// The actions.
const (
	Created   Action = "Created"
	Changed   Action = "Changed"
	Unchanged Action = "Unchanged"
	Removed   Action = "Removed"
	Left      Action = "Left" // it does not belong to Refit
)

// Change is what Refit did with an object, or would do in a dry run.
type Change struct {
	Ref
	Action Action
	// Fields are the fields that change.
	Fields []string
	// Unchecked is set if the API server could not validate the object because its namespace does
	// not exist yet.
	Unchecked bool
}

// Apply applies objects, and deletes those of an earlier install that are no longer part of it.
// With dryRun the API server only validates them. Apply is idempotent: equal objects change
// nothing.
func (c *Cluster) Apply(ctx context.Context, objects []*unstructured.Unstructured, version string, dryRun bool, callbacks Callbacks) ([]Change, error) {
	if err := c.checkVersion(ctx); err != nil {
		return nil, err
	}
	if err := c.CheckIdle(ctx); err != nil {
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
	a := &applyRun{Cluster: c, dryRun: dryRun, callbacks: callbacks, missing: map[string]bool{}}
	namespaces := split(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() != kindNamespace })
	rest := objects[namespaces:]
	workloads := split(rest, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == kindDeployment || o.GetKind() == kindDaemonSet
	})
	if err := a.applyAll(ctx, objects[:namespaces]); err != nil {
		return a.changes, err
	}
	// The inventory comes first, so that an interrupted install is known to the next one and to
	// Remove.
	after := Inventory{Version: version, Agent: agentImage(objects)}
	if err := a.writeInventory(ctx, after.with(before.Objects).with(refs)); err != nil {
		return a.changes, err
	}
	if err := a.applyAll(ctx, rest[:workloads]); err != nil {
		return a.changes, err
	}
	if err := a.prune(ctx, before.obsolete(refs)); err != nil {
		return a.changes, err
	}
	if err := a.applyAll(ctx, rest[workloads:]); err != nil {
		return a.changes, err
	}
	return a.changes, a.writeInventory(ctx, after.with(refs))
}

// agentImage returns the image that installs agents on hosts.
func agentImage(objects []*unstructured.Unstructured) string {
	for _, object := range objects {
		if object.GetKind() == kindDaemonSet {
			return imageOf(object)
		}
	}
	return ""
}

// split returns the index of the first object that matches, or the number of objects.
func split(objects []*unstructured.Unstructured, first func(o *unstructured.Unstructured) bool) int {
	if at := slices.IndexFunc(objects, first); at >= 0 {
		return at
	}
	return len(objects)
}

// applyRun is one call of Apply.
type applyRun struct {
	*Cluster
	dryRun    bool
	removing  bool // what the removal needs is applied again
	callbacks Callbacks
	changes   []Change
	missing   map[string]bool // namespaces that a dry run did not create
}

func (a *applyRun) applyAll(ctx context.Context, objects []*unstructured.Unstructured) error {
	var crds []Ref
	for _, object := range objects {
		if object.GetKind() != kindCRD {
			if err := a.waitForCRDs(ctx, crds); err != nil {
				return err
			}
			crds = nil
		}
		change, err := a.applyOne(ctx, object)
		if err != nil {
			return err
		}
		if object.GetKind() == kindCRD {
			crds = append(crds, change.Ref)
		}
		a.record(change)
	}
	return a.waitForCRDs(ctx, crds)
}

func (a *applyRun) record(change Change) {
	a.changes = append(a.changes, change)
	a.callbacks.object(change)
}

func (a *applyRun) options() metav1.ApplyOptions {
	// Take the fields of the manifests back from other managers.
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
	if a.dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return options
}

func (a *applyRun) applyOne(ctx context.Context, object *unstructured.Unstructured) (Change, error) {
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
	if before != nil && isOfChart(before) && !a.removing {
		return Change{}, fmt.Errorf("%s belongs to a Helm release: upgrade Refit with helm upgrade, "+
			"or remove it first (refit uninstall, then helm uninstall)", ref)
	}
	if before != nil && ref.Kind == kindNamespace && !isRemovable(before) {
		return Change{}, fmt.Errorf("namespace %s exists and does not belong to Refit, which would delete it when it is removed; "+
			"to hand the namespace over to Refit, run: kubectl label namespace %s %s=%s", ref.Name, ref.Name, labelManagedBy, managedBy)
	}
	after, err := a.at(ref).Apply(ctx, ref.Name, object, a.options())
	if err != nil {
		return Change{}, fmt.Errorf("cannot apply %s: %w", ref, err)
	}
	if before == nil {
		a.missing[ref.Name] = a.dryRun && ref.Kind == kindNamespace
		return Change{Ref: ref, Action: Created}, nil
	}
	change := Change{Ref: ref, Action: Unchanged, Fields: diff(before, after)}
	if len(change.Fields) > 0 {
		change.Action = Changed
	}
	return change, nil
}

// writeInventory writes the inventory. It is not part of the reported changes.
func (a *applyRun) writeInventory(ctx context.Context, inventory Inventory) error {
	if a.dryRun {
		return nil
	}
	if _, err := a.at(inventoryRef).Apply(ctx, inventoryName, inventory.object(), a.options()); err != nil {
		return fmt.Errorf("cannot write the inventory: %w", err)
	}
	return nil
}

// waitForCRDs waits until the API server serves CRDs.
func (a *applyRun) waitForCRDs(ctx context.Context, crds []Ref) error {
	if a.dryRun || len(crds) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, establishTimeout)
	defer cancel()
	for _, ref := range crds {
		err := until(ctx, ref.String()+" to be established", pollInterval, a.callbacks, func() (bool, error) {
			found, err := a.get(ctx, ref)
			return found != nil && condition(found, "Established"), err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// condition reports whether a condition of an object is True.
func condition(object *unstructured.Unstructured, name string) bool {
	all, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	return slices.ContainsFunc(all, func(each any) bool {
		fields, ok := each.(map[string]any)
		return ok && fields["type"] == name && fields["status"] == "True"
	})
}
