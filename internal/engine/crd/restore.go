package crd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// RestoreOptions are the options of Restore.
type RestoreOptions struct {
	// Waive accepts that objects lose fields or cannot be changed any more.
	Waive bool
	// Guard denies the creation of objects of these CRDs, until Restore has returned. It is called
	// before new CRDs are deleted: an object that is created after the last count would be deleted,
	// too. Without it, new CRDs stay.
	Guard func(ctx context.Context, names []string) error
}

// Restored is what Restore did with the CRDs that did not exist before the upgrade.
type Restored struct {
	Deleted []string
	// Kept still have objects.
	Kept []KeptDefinition
}

// KeptDefinition is a CRD that a rollback does not delete.
type KeptDefinition struct {
	Name string
	// Objects is how many objects it has; 0 if no version is served, so that they are unknown, or
	// if there is no guard.
	Objects int64
}

// Restore replaces CRDs by the saved ones. It first checks all live objects against the saved CRDs:
// if any would be refused or lose fields outside of status, it writes nothing and returns a
// LossError. CRDs that did not exist before are deleted if they have no objects, under a guard.
func (a *Actor) Restore(ctx context.Context, changes []Change, options RestoreOptions) (Restored, error) {
	var replacing, creating []Change
	for _, change := range changes {
		if change.Old == nil {
			creating = append(creating, change)
		} else {
			replacing = append(replacing, change)
		}
	}
	var restored Restored
	if err := a.lossless(ctx, replacing, asStored, options.Waive); err != nil {
		return restored, err
	}
	for _, change := range replacing {
		if err := a.restore(ctx, change); err != nil {
			return restored, err
		}
	}
	if err := a.removeAll(ctx, creating, options.Guard, &restored); err != nil {
		return restored, err
	}
	return restored, a.serve(ctx, namesOf(replacing)...)
}

// Ours returns the changes whose CRDs are as the upgrade has found or written them, and an error
// for each other one: a rollback does not touch what somebody else has changed or deleted.
func (a *Actor) Ours(ctx context.Context, changes []Change) (ours []Change, others []*ChangedError, err error) {
	for _, change := range changes {
		err := a.isOurs(ctx, change)
		if other, ok := errors.AsType[*ChangedError](err); ok {
			others = append(others, other)
			continue
		}
		if err != nil {
			return nil, others, err
		}
		ours = append(ours, change)
	}
	return ours, others, nil
}

func (a *Actor) isOurs(ctx context.Context, change Change) error {
	live, err := a.live(ctx, change.New.Name)
	switch {
	case err != nil:
		return err
	case change.Old == nil && (live == nil || live.DeletionTimestamp != nil):
		return nil
	case change.Old == nil && live.Annotations[AnnotationCreated] == "":
		return &ChangedError{Name: change.New.Name, Cause: "somebody else has created it"}
	case change.Old == nil:
		return nil
	}
	if err := sameIdentity(change, live); err != nil || equalSpecs(live, change.Old) {
		return err
	}
	return a.mustBeNew(ctx, change, live)
}

// lossless returns a LossError if the objects of a live CRD do not fit the saved one. The stored
// versions are those that the CRD is going to have.
func (a *Actor) lossless(ctx context.Context, changes []Change, stored func(live, old *Definition) []string, waive bool) error {
	loss := &LossError{Reports: map[string]*Report{}}
	for _, change := range changes {
		live, err := a.live(ctx, change.New.Name)
		if err != nil {
			return err
		}
		if err := sameIdentity(change, live); err != nil {
			return err
		}
		if equalSpecs(live, change.Old) {
			continue // an earlier try has restored it
		}
		back := Change{Old: live, New: change.Old}
		objects := a.Objects(ctx, live, VersionsToRead(back)...)
		back.Old = live.DeepCopy()
		back.Old.Status.StoredVersions = stored(live, change.Old)
		report, err := Judge(ctx, back, nil, objects)
		if err != nil {
			return err
		}
		if report.Blocks() && (!waive || refusesChange(report)) {
			loss.Reports[live.Name] = report
		}
	}
	if len(loss.Reports) > 0 {
		return loss
	}
	return nil
}

func asStored(live, _ *Definition) []string { return live.Status.StoredVersions }

func asUnflipped(_, old *Definition) []string { return []string{StorageVersion(old)} }

// refusesChange reports whether the API server refuses the definition itself.
func refusesChange(report *Report) bool {
	return slices.ContainsFunc(report.Findings, func(f Finding) bool { return f.Reason == ChangeRefused })
}

func (a *Actor) restore(ctx context.Context, change Change) error {
	return a.update(ctx, change.New.Name, func(live *Definition) (*Definition, error) {
		if err := sameIdentity(change, live); err != nil {
			return nil, err
		}
		if !equalSpecs(live, change.Old) {
			if err := a.mustBeNew(ctx, change, live); err != nil {
				return nil, err
			}
		}
		back := merged(live, change.Old)
		removeAdded(back.Labels, change.New.Labels, change.Old.Labels)
		removeAdded(back.Annotations, change.New.Annotations, change.Old.Annotations)
		setAnnotation(back, annotationPolicy, policyKeep)
		return changed(live, back), nil
	})
}

// removeAdded removes what only the new definition has. Keys that others have added since stay.
func removeAdded(from, of, before map[string]string) {
	maps.DeleteFunc(from, func(name, _ string) bool {
		_, added := of[name]
		_, had := before[name]
		return added && !had
	})
}

// removeAll deletes CRDs that an upgrade has created, unless they have objects, which would be
// deleted, too. Somebody else's CRD of the same name stays.
func (a *Actor) removeAll(ctx context.Context, changes []Change, guard func(context.Context, []string) error, restored *Restored) error {
	var empty []string
	for _, change := range changes {
		live, objects, err := a.ofUpgrade(ctx, change.New.Name)
		switch {
		case err != nil:
			return err
		case live == nil || live.DeletionTimestamp != nil || guard != nil && objects == 0 && ServedVersion(live) != "":
			empty = append(empty, change.New.Name)
		default:
			restored.Kept = append(restored.Kept, KeptDefinition{Name: live.Name, Objects: objects})
		}
	}
	if len(empty) == 0 {
		return nil
	}
	if guard != nil {
		if err := guard(ctx, empty); err != nil {
			return fmt.Errorf("cannot delete new CRDs: %w", err)
		}
	}
	for _, name := range empty {
		if err := a.remove(ctx, name, restored); err != nil {
			return err
		}
	}
	return nil
}

// ofUpgrade returns a live CRD that an upgrade has created, and how many objects it has. It is nil
// if it does not exist any more.
func (a *Actor) ofUpgrade(ctx context.Context, name string) (live *Definition, objects int64, err error) {
	if live, err = a.live(ctx, name); err != nil || live == nil || live.DeletionTimestamp != nil {
		return live, 0, err
	}
	if live.Annotations[AnnotationCreated] == "" {
		return nil, 0, &ChangedError{Name: name, Cause: "somebody else has created it"}
	}
	objects, err = a.count(ctx, live)
	return live, objects, err
}

// remove deletes a CRD unless it has objects.
func (a *Actor) remove(ctx context.Context, name string, restored *Restored) error {
	for range maxConflicts {
		live, objects, err := a.ofUpgrade(ctx, name)
		switch {
		case err != nil:
			return err
		case live == nil:
			restored.Deleted = append(restored.Deleted, name)
			return nil
		case live.DeletionTimestamp != nil:
			restored.Deleted = append(restored.Deleted, name)
			return a.gone(ctx, live)
		case objects > 0:
			restored.Kept = append(restored.Kept, KeptDefinition{Name: name, Objects: objects})
			return nil
		}
		same := &metav1.Preconditions{UID: &live.UID, ResourceVersion: &live.ResourceVersion}
		err = a.definitions.Delete(ctx, live.Name, metav1.DeleteOptions{Preconditions: same})
		if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return fmt.Errorf("cannot delete the CRD %s: %w", live.Name, err)
		}
	}
	return fmt.Errorf("cannot delete the CRD %s: others change it all the time", name)
}

// count returns how many objects a CRD has, without reading all of them. Those of one that is not
// served are unknown.
func (a *Actor) count(ctx context.Context, live *Definition) (int64, error) {
	served := ServedVersion(live)
	if served == "" {
		return 0, nil
	}
	list, err := a.metadata.Resource(resourceOf(live, served)).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, fmt.Errorf("cannot list the objects of %s: %w", live.Name, err)
	}
	count := int64(len(list.Items))
	if list.RemainingItemCount != nil {
		count += *list.RemainingItemCount
	}
	return count, nil
}

// gone waits until a CRD is deleted, so that it can be created again.
func (a *Actor) gone(ctx context.Context, deleted *Definition) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, serveInterval, serveTimeout, true, func(ctx context.Context) (bool, error) {
		live, err := a.live(ctx, deleted.Name)
		last = err
		return err == nil && (live == nil || live.UID != deleted.UID), nil
	})
	if err != nil {
		return fmt.Errorf("cannot delete the CRD %s: %w", deleted.Name, errors.Join(err, last))
	}
	return nil
}
