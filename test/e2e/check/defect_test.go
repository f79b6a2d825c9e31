//go:build e2e

package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Severities of findings.
const (
	block = "Block"
	warn  = "Warn"
	info  = "Info"
)

// defect is a problem of a cluster, with the findings that refit must report for it.
type defect struct {
	name string
	// faults are injected in this order and removed in reverse order.
	faults []fault
	// to is the target version of the check; empty: newer.
	to string
	// want lists the findings that must be reported.
	want []want
	// also lists findings that may block in addition to the wanted ones.
	also []also
	// late defects are injected last when all are injected together: they remove something that the
	// others need to take effect.
	late bool
	// alone is the reason why this defect cannot be combined with the others; empty: it can.
	alone string
}

// fault is a single harmful change. It must not depend on whether other defects are present.
type fault struct {
	seed, restore func(context.Context, *bed) error
}

// want is an expected finding.
type want struct {
	check  string
	object string
	says   string // a part of the message, if one object can have several findings of this check
	weighs string // empty: block
}

func (w want) severity() string {
	if w.weighs == "" {
		return block
	}
	return w.weighs
}

func (w want) String() string {
	return fmt.Sprintf("%s %s (%s) %s", w.severity(), w.check, w.object, w.says)
}

func (w want) is(f finding) bool {
	return f.Check == w.check && f.Object == w.object && f.Severity == w.severity() && f.Blocks == (w.severity() == block) &&
		strings.Contains(f.Message, w.says)
}

// also is a finding that is allowed, with the reason.
type also struct {
	check, object string
	why           string
}

func (d *defect) target() string {
	if d.to == "" {
		return newer
	}
	return d.to
}

// seed injects the defect into the cluster.
func (d *defect) seed(ctx context.Context, b *bed) error {
	for _, f := range d.faults {
		if err := f.seed(ctx, b); err != nil {
			return fmt.Errorf("%s: seeding: %w", d.name, err)
		}
	}
	return nil
}

// restore removes the defect.
func (d *defect) restore(ctx context.Context, b *bed) error {
	var errs []error
	for _, f := range slices.Backward(d.faults) {
		if err := f.restore(ctx, b); err != nil {
			errs = append(errs, fmt.Errorf("%s: restoring: %w", d.name, err))
		}
	}
	return errors.Join(errs...)
}

// missing returns the wanted findings that are not reported.
func (d *defect) missing(seen answer) []want {
	var out []want
	for _, w := range d.want {
		if !slices.ContainsFunc(seen.Findings, w.is) {
			out = append(out, w)
		}
	}
	return out
}

// left returns the wanted findings that are still reported.
func (d *defect) left(seen answer) []want {
	return slices.DeleteFunc(slices.Clone(d.want), func(w want) bool { return !slices.ContainsFunc(seen.Findings, w.is) })
}

// tolerated returns the blocking findings that are not wanted but correct.
func tolerated(seen answer, defects ...defect) []finding {
	return slices.DeleteFunc(seen.blocks(), func(f finding) bool {
		return !slices.ContainsFunc(defects, func(d defect) bool {
			return slices.ContainsFunc(d.also, func(a also) bool { return a.check == f.Check && a.object == f.Object })
		})
	})
}

// unexpected returns the blocking findings that none of these defects explains.
func unexpected(seen answer, defects ...defect) []finding {
	return slices.DeleteFunc(seen.blocks(), func(f finding) bool {
		return slices.ContainsFunc(defects, func(d defect) bool {
			return slices.ContainsFunc(d.want, func(w want) bool { return w.is(f) }) ||
				slices.ContainsFunc(d.also, func(a also) bool { return a.check == f.Check && a.object == f.Object })
		})
	})
}

// judge returns an error if an answer does not match these defects. All of them must have the same
// target.
func judge(seen answer, defects ...defect) error {
	var errs []error
	for _, d := range defects {
		for _, w := range d.missing(seen) {
			errs = append(errs, fmt.Errorf("%s: not found: %s", d.name, w))
		}
	}
	for _, f := range unexpected(seen, defects...) {
		errs = append(errs, fmt.Errorf("blocks without a reason: %s", f))
	}
	return errors.Join(errs...)
}
