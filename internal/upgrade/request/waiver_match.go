package request

import (
	"fmt"
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

// MatchWaivers rejects a waiver for an object that cannot exist, and one that misses the findings
// of its check: it is misspelled. A waiver whose problem is gone is accepted, so that the same
// command can be repeated after a part of an upgrade; preflight warns about it.
func MatchWaivers(waivers []refitv1alpha1.Waiver, s *cluster.Snapshot, report *preflight.Report) error {
	for i := range waivers {
		w := &waivers[i]
		if w.Object == "" || matches(w, report.Findings) {
			continue // one for all objects may be written in advance
		}
		if report.Decides(*w) {
			if err := misses(w, report.Findings); err != nil {
				return err
			}
		}
		if err := preflight.WrongObject(*w, s); err != nil {
			return fmt.Errorf("%s: %w. Use an object with its kind, such as %q", w.Check, err, policy.NodeObject(s.Nodes[0].Name))
		}
	}
	return nil
}

func matches(w *refitv1alpha1.Waiver, findings []preflight.Finding) bool {
	return slices.ContainsFunc(findings, func(f preflight.Finding) bool { return f.Check == w.Check && f.Object == w.Object })
}

// misses rejects a waiver without a finding while another finding of its check is not waived.
func misses(w *refitv1alpha1.Waiver, findings []preflight.Finding) error {
	var objects []string
	found := false
	for i := range findings {
		f := &findings[i]
		switch {
		case f.Check != w.Check || f.Waived != nil:
		case f.Object == "":
			found = true
		default:
			objects = append(objects, f.Object)
		}
	}
	switch {
	case len(objects) > 0:
		return fmt.Errorf("%s has no finding for %q. Use an object with its kind, as `refit check` prints it: %s",
			w.Check, w.Object, phrase.Fold(objects, phrase.FewNames))
	case found:
		return fmt.Errorf("%s has no finding for %q: its finding is about the cluster. Use %s=REASON", w.Check, w.Object, w.Check)
	}
	return nil
}
