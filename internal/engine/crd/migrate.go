package crd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
)

const (
	rewritePage    = 500
	rewriteWorkers = 4
	// maxRewrites bounds how often all objects are rewritten because the CRD changes meanwhile.
	maxRewrites = 3
	// maxNamedObjects bounds the objects in the text of an error.
	maxNamedObjects = 10
)

// Progress is how far the objects of a CRD are rewritten.
type Progress struct {
	Definition string
	// Objects are rewritten; Remaining is an estimate.
	Objects, Remaining int64
}

// CommitOptions are the options of Commit.
type CommitOptions struct {
	// Rewrite has all objects written in the new storage version, and removes the others from the
	// stored versions of the CRD. Without it, objects are converted with their next write.
	Rewrite bool
	// Progress is called after each page, if it is not nil.
	Progress func(Progress)
	// Skipped is called for each CRD that somebody else has changed and that has nothing to commit,
	// if it is not nil.
	Skipped func(*ChangedError)
}

// Commit changes the storage version of CRDs to that of their new definitions. There is no rollback
// without loss after that. A kill at any time leaves what a repetition completes: the storage
// version changes first, and the stored versions only after all objects are rewritten.
//
// It is the last step that can meet what others have changed, and nothing is rolled back any more:
// a changed CRD fails it only if objects may still be stored in another version.
func (a *Actor) Commit(ctx context.Context, changes []Change, options CommitOptions) error {
	var served []string
	for _, change := range changes {
		if change.Old == nil {
			served = append(served, change.New.Name)
			continue // all its objects are in its storage version
		}
		storage := StorageVersion(change.New)
		err := a.flip(ctx, change, storage)
		if changed, ok := errors.AsType[*ChangedError](err); ok {
			committed, failed := a.committed(ctx, change.New.Name, storage)
			if failed != nil {
				return failed
			}
			if !committed {
				changed.Cause += fmt.Sprintf(" before its objects were stored in version %s only", storage)
				return changed
			}
			if options.Skipped != nil {
				options.Skipped(changed)
			}
			continue
		}
		if err != nil {
			return err
		}
		served = append(served, change.New.Name)
		if !options.Rewrite {
			continue
		}
		if err := a.migrate(ctx, change, storage, options.Progress); err != nil {
			return err
		}
	}
	return a.serve(ctx, served...)
}

// committed reports whether a live CRD has no objects in another version than one. A deleted CRD
// has none.
func (a *Actor) committed(ctx context.Context, name, storage string) (bool, error) {
	live, err := a.live(ctx, name)
	if err != nil || live == nil {
		return err == nil, err
	}
	return StorageVersion(live) == storage && slices.Equal(live.Status.StoredVersions, []string{storage}), nil
}

// UnflipOptions are the options of Unflip.
type UnflipOptions struct {
	// Waive accepts that objects lose fields.
	Waive bool
	// Progress is called after each page, if it is not nil.
	Progress func(Progress)
}

// Unflip has all objects stored in the storage versions of the saved CRDs again, where that is not
// the case: after a change of the storage version at once, or an interrupted commit. It runs while
// the new conversion webhook does. If objects would lose fields, it writes nothing and returns a
// LossError.
func (a *Actor) Unflip(ctx context.Context, changes []Change, options UnflipOptions) error {
	flipped, err := a.flipped(ctx, changes)
	if err != nil {
		return err
	}
	if err := a.lossless(ctx, flipped, asUnflipped, options.Waive); err != nil {
		return err
	}
	for _, change := range flipped {
		storage := StorageVersion(change.Old)
		if err := a.flip(ctx, change, storage); err != nil {
			return err
		}
		if err := a.migrate(ctx, change, storage, options.Progress); err != nil {
			return err
		}
	}
	return nil
}

// flipped returns the changes whose objects may be stored in another version than before.
func (a *Actor) flipped(ctx context.Context, changes []Change) ([]Change, error) {
	var flipped []Change
	for _, change := range changes {
		if change.Old == nil {
			continue
		}
		live, err := a.live(ctx, change.New.Name)
		if err != nil {
			return nil, err
		}
		if err := sameIdentity(change, live); err != nil {
			return nil, err
		}
		before := storedVersions(change.Old)
		if slices.ContainsFunc(live.Status.StoredVersions, func(v string) bool { return !slices.Contains(before, v) }) {
			flipped = append(flipped, change)
		}
	}
	return flipped, nil
}

// flip changes the storage version of a CRD that Expand has written.
func (a *Actor) flip(ctx context.Context, change Change, storage string) error {
	return a.update(ctx, change.New.Name, func(live *Definition) (*Definition, error) {
		if err := a.mustBeNew(ctx, change, live); err != nil || StorageVersion(live) == storage {
			return nil, err
		}
		return Commit(live, storage)
	})
}

// mustBeNew returns a ChangedError if the live CRD is not the new definition with any storage
// version.
func (a *Actor) mustBeNew(ctx context.Context, change Change, live *Definition) error {
	if err := sameIdentity(change, live); err != nil {
		return err
	}
	desired := change.New.DeepCopy()
	setStorage(desired, StorageVersion(live))
	return a.mustBe(ctx, live, desired)
}

// migrate waits until all API servers use the storage version of a CRD, rewrites all objects and
// trims the stored versions.
func (a *Actor) migrate(ctx context.Context, change Change, storage string, progress func(Progress)) error {
	for range maxRewrites {
		if err := a.serve(ctx, change.New.Name); err != nil {
			return err
		}
		live, err := a.live(ctx, change.New.Name)
		if err != nil {
			return err
		}
		if err := sameIdentity(change, live); err != nil {
			return err
		}
		if slices.Equal(live.Status.StoredVersions, []string{storage}) {
			return nil
		}
		if err := a.rewrite(ctx, live, progress); err != nil {
			return err
		}
		if trimmed, err := a.trim(ctx, live, storage); err != nil || trimmed {
			return err
		}
	}
	return &ChangedError{Name: change.New.Name, Cause: "somebody else changes it while its objects are rewritten"}
}

// trim removes all versions but one from the stored versions of a CRD. It reports false if the
// definition has changed since before the objects were rewritten: they may have been written in
// another version meanwhile.
func (a *Actor) trim(ctx context.Context, before *Definition, storage string) (trimmed bool, err error) {
	for range maxConflicts {
		live, err := a.live(ctx, before.Name)
		if err != nil {
			return false, err
		}
		if live == nil || live.UID != before.UID || live.Generation != before.Generation || StorageVersion(live) != storage {
			return false, nil
		}
		live.Status.StoredVersions = []string{storage}
		_, err = a.definitions.UpdateStatus(ctx, live, metav1.UpdateOptions{FieldManager: a.manager})
		if !apierrors.IsConflict(err) {
			return err == nil, wrap(err, "cannot update the status of the CRD %s", before.Name)
		}
	}
	return false, fmt.Errorf("cannot update the status of the CRD %s: others change it all the time", before.Name)
}

// rewrite has the API server write each object of a CRD in the storage version. It reads only their
// metadata. Objects that are created or changed meanwhile are in the storage version already, and
// those that are deleted need not be.
func (a *Actor) rewrite(ctx context.Context, live *Definition, progress func(Progress)) error {
	version := StorageVersion(live)
	if !serves(live, version) {
		served := anyServed(live)
		if served == nil {
			return fmt.Errorf("cannot rewrite the objects of %s: no version is served", live.Name)
		}
		version = served[0]
	}
	client := a.metadata.Resource(resourceOf(live, version))
	var failed failures
	done := Progress{Definition: live.Name}
	for next := ""; ; {
		list, err := client.List(ctx, metav1.ListOptions{Limit: rewritePage, Continue: next})
		if token, ok := expired(err); ok {
			next = token
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot list the objects of %s: %w", live.Name, err)
		}
		rewritePageOf(ctx, client, list.Items, &failed)
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("cannot rewrite the objects of %s: %w", live.Name, err)
		}
		done.Objects, done.Remaining = done.Objects+int64(len(list.Items)), 0
		if list.RemainingItemCount != nil {
			done.Remaining = *list.RemainingItemCount
		}
		if progress != nil {
			progress(done)
		}
		if next = list.Continue; next == "" {
			return wrap(failed.err(), "cannot rewrite all objects of %s", live.Name)
		}
	}
}

// rewritePageOf rewrites objects, some of them at the same time. An empty patch changes nothing but
// what etcd stores: the API server writes if the result differs from that, which it does in another
// version.
func rewritePageOf(ctx context.Context, client metadata.Getter, items []metav1.PartialObjectMetadata, failed *failures) {
	var workers sync.WaitGroup
	queue := make(chan *metav1.PartialObjectMetadata)
	for range rewriteWorkers {
		workers.Go(func() {
			for item := range queue {
				_, err := client.Namespace(item.Namespace).Patch(ctx, item.Name, types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
				if err != nil && !apierrors.IsNotFound(err) {
					failed.add(item, err)
				}
			}
		})
	}
	for i := range items {
		if ctx.Err() != nil {
			break
		}
		queue <- &items[i]
	}
	close(queue)
	workers.Wait()
}

// failures are the objects that could not be rewritten, at most a few of them by name.
type failures struct {
	mu    sync.Mutex
	count int
	named []error
}

func (f *failures) add(item *metav1.PartialObjectMetadata, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	if len(f.named) < maxNamedObjects {
		name := item.Name
		if item.Namespace != "" {
			name = item.Namespace + "/" + name
		}
		f.named = append(f.named, fmt.Errorf("%s: %w", name, err))
	}
}

func (f *failures) err() error {
	if f.count == 0 {
		return nil
	}
	return fmt.Errorf("%d failed: %w", f.count, errors.Join(f.named...))
}
