package check

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// maxListBytes bounds the objects of a listRule, which are in memory at the same time.
const maxListBytes = 4 << 20

// Result is what a check has found.
type Result struct {
	// Failed is set if the rule does not hold. Objects are the names of those for which it does
	// not; those of a listRule have none.
	Failed  bool
	Objects []string
	// Invalid is why the rule could not be evaluated, for some objects or for all of them.
	Invalid error
}

// Run evaluates a check. The reader must read from the API server, never from a cache. An error
// means that the cluster cannot be read; everything else is in the result.
func Run(ctx context.Context, reader client.Client, check *refitv1alpha1.ComponentCheck, versions Versions) (Result, error) {
	rule, err := compile(check, versions)
	if err != nil {
		return Result{Invalid: err}, nil //nolint:nilerr // it is a problem of the check
	}
	r := &run{rule: rule, kind: kindName(check)}
	if check.ListRule != "" {
		err = r.list(ctx, reader, &check.Objects)
	} else {
		err = each(ctx, reader, &check.Objects, func(object map[string]any, _ int) error { return r.object(ctx, object) })
	}
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	_, cannot := errors.AsType[unreadable](err)
	switch {
	case cannot, errors.Is(err, errBudget):
		r.result.Invalid = err
	case err != nil:
		return Result{}, err
	}
	return r.result, nil
}

func kindName(check *refitv1alpha1.ComponentCheck) string {
	name, _, _ := strings.Cut(check.Objects.Kind, ".")
	return name
}

type run struct {
	rule   *rule
	kind   string
	result Result
}

// object evaluates the rule for one object. An error of the rule counts for this object only.
func (r *run) object(ctx context.Context, object map[string]any) error {
	held, err := r.rule.evaluate(ctx, object)
	switch {
	case errors.Is(err, errBudget):
		return fmt.Errorf("%s %s: %w", r.kind, nameOf(object), err)
	case err != nil:
		if r.result.Invalid == nil {
			r.result.Invalid = fmt.Errorf("%s %s: %w", r.kind, nameOf(object), err)
		}
	case !held:
		r.result.Failed, r.result.Objects = true, append(r.result.Objects, nameOf(object))
	}
	return nil
}

// list evaluates the rule for all objects.
func (r *run) list(ctx context.Context, reader client.Client, of *refitv1alpha1.CheckedObjects) error {
	size, all := 0, []any{}
	err := each(ctx, reader, of, func(object map[string]any, bytes int) error {
		if size += bytes; size > maxListBytes {
			return unreadable{fmt.Errorf("the objects of kind %s have more than %d MiB, which a listRule can read", of.Kind, maxListBytes>>20)}
		}
		all = append(all, object)
		return nil
	})
	if err != nil {
		return err
	}
	held, err := r.rule.evaluate(ctx, all)
	switch {
	case errors.Is(err, errBudget):
		return err
	case err != nil:
		r.result.Invalid = err
	default:
		r.result.Failed = !held
	}
	return nil
}
