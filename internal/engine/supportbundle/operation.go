package supportbundle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

// reachTimeout is how long the API server may take for its first answer.
const reachTimeout = 15 * time.Second

// findOperation finds the operation, and whether the API server is reachable.
func (r *run) findOperation(ctx context.Context) {
	r.report(Progress{Activity: "reads the operation"})
	if r.Dynamic == nil {
		r.index.APIUnreachable = r.classify(supportbundle.Fail(supportbundle.ReasonAPIUnreachable, "the API was not used"))
		return
	}
	var all []refitv1alpha1.ClusterUpgrade
	limited, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	err := r.list(limited, collection{refit("clusterupgrades"), ""}, func(u *unstructured.Unstructured) error {
		var operation refitv1alpha1.ClusterUpgrade
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &operation); err != nil {
			return fmt.Errorf("cannot read ClusterUpgrade %s: %w", u.GetName(), err)
		}
		all = append(all, operation)
		return nil
	})
	switch {
	case err != nil && unreachable(err):
		r.index.APIUnreachable = r.classify(supportbundle.Fail(supportbundle.ReasonAPIUnreachable, "the API server is unreachable: %v", cause(err)))
	case err == nil:
		r.operation = choose(all, r.Operation)
	}
}

// choose returns the named operation, or else the one in progress, or else the last one.
func choose(all []refitv1alpha1.ClusterUpgrade, name string) *refitv1alpha1.ClusterUpgrade {
	slices.SortStableFunc(all, func(a, b refitv1alpha1.ClusterUpgrade) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	var last *refitv1alpha1.ClusterUpgrade
	for i := range all {
		u := &all[i]
		switch {
		case name == u.Name:
			return u
		case name != "":
			continue
		case last == nil || last.HasEnded():
			last = u
		}
	}
	return last
}

// FindOperation returns an error if there is no operation of a name, before anything is collected.
// An API server that does not answer is no error.
func (c *Collector) FindOperation(ctx context.Context, name string) error {
	if name == "" || c.Dynamic == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	_, err := c.Dynamic.Resource(refit("clusterupgrades")).Get(ctx, name, metav1.GetOptions{})
	if err != nil && reasonOf(err) == supportbundle.ReasonNotFound {
		return fmt.Errorf("ClusterUpgrade %s not found: list the operations with `refit history`", name)
	}
	return nil
}

// cause returns the last error of a chain, without the request, which the user did not type.
func cause(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}
