//go:build e2e

package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// severity of findings.
const (
	block = "Block"
	warn  = "Warn"
	info  = "Info"
)

// defect is something that is wrong with a cluster, and what refit must say about it.
type defect struct {
	name string
	// faults are put into the cluster in this order, and taken out in the reverse one.
	faults []fault
	// to is the version that is checked for; empty: newer.
	to string
	// want is what must be found.
	want []want
	// also are findings that may block beside those that are wanted.
	also []also
	// late defects are put in after the others when all are put in together: they take away what the others need to come about.
	late bool
	// alone says why this one cannot be there together with the others; empty: it can.
	alone string
}

// fault is one change for the worse. Its changes must not depend on other defects being there or not.
type fault struct {
	seed, restore func(context.Context, *bed) error
}

// want is a finding.
type want struct {
	check  string
	object string
	says   string // a part of the message, where one object may have several findings of this check
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

// also is a finding that may be there, and why.
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

// seed puts the defect into the cluster.
func (d *defect) seed(ctx context.Context, b *bed) error {
	for _, f := range d.faults {
		if err := f.seed(ctx, b); err != nil {
			return fmt.Errorf("%s: seeding: %w", d.name, err)
		}
	}
	return nil
}

// restore takes it out again.
func (d *defect) restore(ctx context.Context, b *bed) error {
	var errs []error
	for _, f := range slices.Backward(d.faults) {
		if err := f.restore(ctx, b); err != nil {
			errs = append(errs, fmt.Errorf("%s: restoring: %w", d.name, err))
		}
	}
	return errors.Join(errs...)
}

// missing are the findings that are wanted and not there.
func (d *defect) missing(seen answer) []want {
	var out []want
	for _, w := range d.want {
		if !slices.ContainsFunc(seen.Findings, w.is) {
			out = append(out, w)
		}
	}
	return out
}

// left are the wanted findings that are still there.
func (d *defect) left(seen answer) []want {
	return slices.DeleteFunc(slices.Clone(d.want), func(w want) bool { return !slices.ContainsFunc(seen.Findings, w.is) })
}

// tolerated are the findings that block beside those that are wanted, and are true.
func tolerated(seen answer, defects ...defect) []finding {
	return slices.DeleteFunc(seen.blocks(), func(f finding) bool {
		return !slices.ContainsFunc(defects, func(d defect) bool {
			return slices.ContainsFunc(d.also, func(a also) bool { return a.check == f.Check && a.object == f.Object })
		})
	})
}

// unexpected are the findings that block although none of these defects is a reason for it.
func unexpected(seen answer, defects ...defect) []finding {
	return slices.DeleteFunc(seen.blocks(), func(f finding) bool {
		return slices.ContainsFunc(defects, func(d defect) bool {
			return slices.ContainsFunc(d.want, func(w want) bool { return w.is(f) }) ||
				slices.ContainsFunc(d.also, func(a also) bool { return a.check == f.Check && a.object == f.Object })
		})
	})
}

// judge says what is wrong with an answer, given these defects. Only defects of one target can be judged together.
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
