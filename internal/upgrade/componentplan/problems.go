package componentplan

import (
	"slices"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The checks of components. Those of refit-components are the reasons of its problems.
const (
	CheckNoPath       = "ComponentHasNoPath"
	CheckDeletesCRD   = "UpgradeDeletesCRD"
	CheckRefuses      = "CRDRefusesObjects"
	CheckDrops        = "CRDDropsFields"
	CheckGitOps       = "ComponentOwnedByGitOps"
	CheckPending      = "ComponentPending"
	CheckPeer         = "PeerIncompatible"
	CheckPeerUnknown  = "PeerUnknown"
	CheckRecordLarge  = "HelmRecordTooLarge"
	CheckRemovesData  = "RemovalDeletesData"
	CheckFailed       = "CheckFailed"
	CheckInvalid      = "CheckInvalid"
	CheckForm         = "FormIncomplete"
	CheckOtherProblem = "ComponentProblem"
	CheckUnknown      = "ComponentsUnknown"
	CheckNotOffered   = "ComponentNotInRelease"
)

// Own are the reasons of problems that are checks of their own.
var Own = []string{
	CheckNoPath, CheckDeletesCRD, CheckRefuses, CheckDrops, CheckGitOps, CheckPending, CheckPeer, CheckPeerUnknown, CheckRecordLarge,
	CheckRemovesData, CheckFailed, CheckInvalid, CheckForm,
}

// CheckOf returns the check of a problem.
func CheckOf(problem *refitv1alpha1.ComponentProblem) string {
	if slices.Contains(Own, problem.Reason) {
		return problem.Reason
	}
	return CheckOtherProblem
}

// ProblemObject names what a problem of an offer is about.
func ProblemObject(component string, problem *refitv1alpha1.ComponentProblem) string {
	if problem.Object != "" {
		return problem.Object
	}
	return "Component " + component
}

// Blocks reports whether a problem keeps a component from being changed: it does, and the user has
// not waived its check, for all objects or for its own.
func Blocks(component string, problem *refitv1alpha1.ComponentProblem, waived func(check, object string) bool) bool {
	check := CheckOf(problem)
	accepted := check != CheckDeletesCRD && check != CheckRemovesData && (waived(check, "") || waived(check, ProblemObject(component, problem)))
	return problem.Blocks && !accepted
}
