package request

import (
	"fmt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

// MatchWaivers rejects a waiver for an object that no finding of its check has: the object is
// misspelled, or the problem is gone. It accepts a waiver of a check that has no answer for the
// object yet, and one for all objects of a check, which may be written in advance.
func MatchWaivers(waivers []refitv1alpha1.Waiver, s *cluster.Snapshot, report *preflight.Report) error {
	for i := range waivers {
		w := &waivers[i]
		if w.Object == "" {
			continue
		}
		if report.Decides(*w) {
			if err := matchObject(w, report.Findings); err != nil {
				return err
			}
		} else if err := preflight.WrongObject(*w, s); err != nil {
			return fmt.Errorf("%s: %w. Use an object with its kind, such as %q", w.Check, err, policy.NodeObject(s.Nodes[0].Name))
		}
	}
	return nil
}

func matchObject(w *refitv1alpha1.Waiver, findings []preflight.Finding) error {
	var objects []string
	found := false
	for i := range findings {
		f := &findings[i]
		switch {
		case f.Check != w.Check:
		case f.Object == w.Object:
			return nil
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
	return fmt.Errorf("%s has no finding for %q, nor for any other object. Remove the waiver", w.Check, w.Object)
}
