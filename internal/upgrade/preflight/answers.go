package preflight

import refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"

// answers is which checks have no answer, for which reason.
type answers struct {
	unread    map[string]bool // checks that need a part that was not read
	waiting   map[string]bool // checks that need the agent of a node without one
	reporting map[string]bool // nodes with an agent
}

// count is the number of checks without an answer for at least one node.
func (a *answers) count() int {
	n := len(a.unread)
	for id := range a.waiting {
		if !a.unread[id] {
			n++
		}
	}
	return n
}

// decide reports whether the check of a waiver has an answer for the object of the waiver: a node
// has one if its own agent reports, whether or not others do.
func (a *answers) decide(w refitv1alpha1.Waiver) bool {
	node, isNode := NodeOf(w.Object)
	switch {
	case a.unread[w.Check]:
		return false
	case !a.waiting[w.Check]:
		return true
	}
	return isNode && a.reporting[node]
}
