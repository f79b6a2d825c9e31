package preflight

import (
	"fmt"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/componentplan"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// withoutKind are the checks whose findings have objects without a kind: parts of the cluster,
// other checks, flags and files of a rehearsal, and CRDs and peers of components.
var withoutKind = append([]string{
	idPartUnreadable, idWaiverRefused, idWaiverUnused, policy.CheckRehearsal, componentplan.CheckOtherProblem,
}, componentplan.Own...)

// LacksKind reports whether the object of a waiver has no kind, so that it matches no finding:
// "worker-1" instead of "Node worker-1".
func LacksKind(w refitv1alpha1.Waiver) bool {
	return w.Object != "" && w.Object != etcdCluster && !strings.Contains(w.Object, " ") && !slices.Contains(withoutKind, w.Check)
}

// WrongObject returns why no finding can ever have the object of a waiver, nil if one can.
func WrongObject(w refitv1alpha1.Waiver, s *cluster.Snapshot) error {
	if LacksKind(w) {
		return fmt.Errorf("%q has no kind", w.Object)
	}
	name, of := NodeOf(w.Object)
	if _, unread := s.Gap(cluster.PartNodes); unread || !of || s.Node(name) != nil {
		return nil
	}
	return fmt.Errorf("node %s does not exist", name)
}

// NodeOf returns the name of the node that an object is, or is a part of.
func NodeOf(object string) (name string, ok bool) {
	for _, kind := range []string{policy.NodeObject(""), apiServerKind, etcdMemberKind} {
		if name, ok = strings.CutPrefix(object, kind); ok {
			return name, true
		}
	}
	return "", false
}
