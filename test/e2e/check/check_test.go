//go:build e2e

package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// score counts the defects that were found, and the findings without a defect.
type score struct {
	defects, found, falseBlocks int
}

func (s score) recall() float64 { return 100 * float64(s.found) / float64(max(1, s.defects)) }

// TestDefects injects defects into a 3+2 cluster, one at a time and all at once.
func TestDefects(t *testing.T) {
	b := newBed(t, cluster.Spec{Name: "check", ControlPlanes: 3, Workers: 2, Kubernetes: older})
	must(t, b.load(t.Context(), "cp-1", "kube-scheduler"))
	must(t, b.load(t.Context(), "cp-3", "kube-apiserver"))

	var alone, together score
	t.Run("clean", func(t *testing.T) { b.clean(t) })
	if !b.oneAtATime(t, &alone, clusterDefects()) {
		return
	}
	must(t, b.reportAll(t.Context()))
	t.Run("clean with agents", func(t *testing.T) { b.clean(t) })
	if !b.oneAtATime(t, &alone, hostDefects()) {
		return
	}
	all := slices.DeleteFunc(slices.Concat(clusterDefects(), hostDefects()), func(d defect) bool { return d.alone != "" })
	t.Run("together", func(t *testing.T) { b.allAtOnce(t, &together, all) })

	show(t, "check_defects", float64(alone.defects), "defects")
	show(t, "check_recall", alone.recall(), "percent")
	show(t, "check_defects_together", float64(together.defects), "defects")
	show(t, "check_recall_together", together.recall(), "percent")
	show(t, "check_false_blocks", float64(alone.falseBlocks+together.falseBlocks), "findings")
	show(t, "check_seconds", median(b.refit.seconds), "s")
	show(t, "check_requests", median(b.refit.requests), "requests")
}

// clean verifies that nothing blocks the upgrade of a healthy cluster.
func (b *bed) clean(t *testing.T) {
	t.Helper()
	for _, to := range []string{newer, newest} {
		for _, command := range []string{"check", "plan"} {
			seen, err := b.refit.ask(t.Context(), command, "--to", to)
			must(t, err)
			for _, f := range seen.blocks() {
				t.Errorf("%s --to %s: blocks without a reason: %s", command, to, f)
			}
			if command == "plan" && (seen.Plan == nil || seen.Plan.Hash == "") {
				t.Errorf("plan --to %s: there is no plan", to)
			}
			for _, f := range seen.Findings {
				if command == "check" && f.Severity != info {
					t.Logf("check --to %s: %s", to, f)
				}
			}
		}
	}
}

// oneAtATime injects and removes defects, one after the other. It returns early if one cannot be
// removed.
func (b *bed) oneAtATime(t *testing.T, s *score, defects []defect) bool {
	t.Helper()
	for _, d := range defects {
		gone := true
		t.Run(d.name, func(t *testing.T) {
			gone = false
			s.defects++
			seedErr := d.seed(t.Context(), b)
			if seedErr == nil {
				b.find(t, s, d)
			} else {
				t.Error(seedErr)
			}
			must(t, d.restore(t.Context(), b))
			must(t, until(t.Context(), "the cluster to be clean again", func(ctx context.Context) error {
				seen, err := b.refit.check(ctx, d.target())
				if err != nil {
					return err
				}
				for _, w := range d.left(seen) {
					err = errors.Join(err, fmt.Errorf("still found: %s", w))
				}
				return errors.Join(err, judge(seen))
			}))
			gone = true
		})
		if !gone {
			t.Errorf("%s could not be taken out again: the rest would be judged wrongly", d.name)
			return false
		}
	}
	return true
}

// find waits until a defect is found, and nothing else. Findings that block only while the defect
// takes effect are logged.
func (b *bed) find(t *testing.T, s *score, d defect) {
	t.Helper()
	var last answer
	passing := map[string]bool{}
	err := until(t.Context(), "the defect to be found", func(ctx context.Context) (err error) {
		if last, err = b.refit.check(ctx, d.target()); err != nil {
			return err
		}
		for _, f := range unexpected(last, d) {
			passing[f.String()] = true
		}
		return judge(last, d)
	})
	if err != nil {
		t.Error(err)
	}
	for f := range passing {
		t.Logf("blocked for a moment: %s", f)
	}
	s.count(last, d)
	s.countBlocks(t, last, d)
}

// count counts a defect as found or not found.
func (s *score) count(seen answer, d defect) {
	if len(seen.Findings) > 0 && len(d.missing(seen)) == 0 {
		s.found++
	}
}

// countBlocks counts the findings that must not block.
func (s *score) countBlocks(t *testing.T, seen answer, defects ...defect) {
	t.Helper()
	for _, f := range tolerated(seen, defects...) {
		t.Logf("true as well: %s", f)
	}
	s.falseBlocks += len(unexpected(seen, defects...))
}

// allAtOnce injects all defects and checks for them, once for every target.
func (b *bed) allAtOnce(t *testing.T, s *score, all []defect) {
	t.Helper()
	early := slices.DeleteFunc(slices.Clone(all), func(d defect) bool { return d.late })
	for _, d := range early {
		must(t, d.seed(t.Context(), b))
	}
	b.findAll(t, &score{}, early)
	for _, d := range all {
		if d.late {
			must(t, d.seed(t.Context(), b))
		}
	}
	s.defects = len(all)
	b.findAll(t, s, all)
}

// findAll waits until all defects are found, one target after the other, and counts those found in
// the end.
func (b *bed) findAll(t *testing.T, s *score, all []defect) {
	t.Helper()
	for _, to := range []string{newer, newest} {
		its := slices.DeleteFunc(slices.Clone(all), func(d defect) bool { return d.target() != to })
		var last answer
		err := until(t.Context(), "all defects to be found", func(ctx context.Context) (err error) {
			if last, err = b.refit.check(ctx, to); err != nil {
				return err
			}
			for _, d := range its {
				for _, w := range d.missing(last) {
					err = errors.Join(err, fmt.Errorf("%s: not found: %s", d.name, w))
				}
			}
			for _, f := range unexpected(last, all...) {
				err = errors.Join(err, fmt.Errorf("blocks without a reason: %s", f))
			}
			return err
		})
		if err != nil {
			t.Errorf("to %s: %v", to, err)
		}
		for _, d := range its {
			s.count(last, d)
		}
		s.countBlocks(t, last, all...)
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
