package operations

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// Once identifies a start that happens once, however often it is requested. The operation itself
// remembers it, in annotations, so that it outlives the process that has started it.
type Once struct {
	Key     string // a hash of the user and of the key that the user has chosen
	Request string // a hash of what is requested
}

// The annotations of an operation that was started once.
const (
	annotationKey     = "refit.dev/start-key"
	annotationRequest = "refit.dev/start-request"
)

// ErrKeyReused is the error of a start with the key of another start.
var ErrKeyReused = errors.New("the key was used for another request")

// InProgressError is the error of a start while an operation with the same target is in progress.
type InProgressError struct{ Operation string }

func (e InProgressError) Error() string {
	return fmt.Sprintf("operation %s has the same target and is in progress", e.Operation)
}

// StartedWith reports whether an operation was started with a key.
func StartedWith(u *refitv1alpha1.ClusterUpgrade, key string) bool {
	return u.Annotations[annotationKey] == key
}

// Find returns the operation that was started with the key, nil if there is none.
func (o Once) Find(existing []refitv1alpha1.ClusterUpgrade) (*refitv1alpha1.ClusterUpgrade, error) {
	for i := range existing {
		if u := &existing[i]; StartedWith(u, o.Key) {
			if u.Annotations[annotationRequest] != o.Request {
				return nil, fmt.Errorf("%w, which has started operation %s", ErrKeyReused, u.Name)
			}
			return u, nil
		}
	}
	return nil, nil //nolint:nilnil // most starts are new
}

// Permits returns the operation that was started with the key, or nil if it may start. The error is
// ErrKeyReused or an InProgressError.
func (o Once) Permits(existing []refitv1alpha1.ClusterUpgrade, spec refitv1alpha1.ClusterUpgradeSpec) (*refitv1alpha1.ClusterUpgrade, error) {
	found, err := o.Find(existing)
	if found != nil || err != nil {
		return found, err
	}
	if same := request.InProgress(existing, spec); same != nil {
		return nil, InProgressError{same.Name}
	}
	return nil, nil //nolint:nilnil // it may start
}

// StartOnce creates an operation with an approved plan, or returns the one that was started with
// the same key before. The name depends on the target only: racing requests choose the same one, so
// that all but one meet an existing object and read the list again.
func (c *Cluster) StartOnce(
	ctx context.Context, spec refitv1alpha1.ClusterUpgradeSpec, hash string, once Once,
) (started *refitv1alpha1.ClusterUpgrade, created bool, err error) {
	for {
		existing, err := c.List(ctx)
		if err != nil {
			return nil, false, err
		}
		if found, err := once.Permits(existing, spec); found != nil || err != nil {
			return found, false, err
		}
		name, err := request.Name(spec.Target, existing)
		if err != nil {
			return nil, false, err
		}
		as := metav1.ObjectMeta{Name: name, Annotations: map[string]string{annotationKey: once.Key, annotationRequest: once.Request}}
		started, _, err = c.create(ctx, as, spec, hash)
		if !apierrors.IsAlreadyExists(err) {
			return started, err == nil, err
		}
	}
}
