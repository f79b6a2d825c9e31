package v1alpha1

import "time"

// The kinds of the documents about components.
const (
	KindComponents           = "Components"
	KindComponentExplanation = "ComponentExplanation"
	KindComponentDiff        = "ComponentDiff"
	KindAdoption             = "Adoption"
)

// Components is the result of `refit components list`.
type Components struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Cluster    string           `json:"cluster"`
	Components []ComponentState `json:"components"`
}

// ComponentState is what is installed of a component, and what the ClusterReleases of the cluster
// offer.
type ComponentState struct {
	Name string `json:"name"`
	// Owner is who installed it: None, Refit, Helm, Flux or ArgoCD. It is empty until
	// refit-components has read the component.
	Owner  string `json:"owner,omitempty"`
	Manage string `json:"manage"` // Refit or Observe
	Adopt  bool   `json:"adopt"`  // Refit may take over a Helm release that it did not install
	// Installed is the Helm release, absent if there is none.
	Installed *InstalledComponent `json:"installed,omitempty"`
	Offers    []ComponentOffer    `json:"offers,omitempty"`
	// Stalled is what keeps refit-components from reading the component, if anything.
	Stalled string `json:"stalled,omitempty"`
	// Outdated is true while the offers are about an earlier spec of the Component.
	Outdated bool `json:"outdated,omitempty"`
	// Upgrade is the last upgrade of the component, absent if there was none.
	Upgrade *ComponentProgress `json:"upgrade,omitempty"`
}

// InstalledComponent is the Helm release of a component.
type InstalledComponent struct {
	Version   string `json:"version"`
	Namespace string `json:"namespace"`
	Release   string `json:"release"`
	Revision  int64  `json:"revision"`
	Pending   bool   `json:"pending,omitempty"` // its newest revision is unfinished
}

// ComponentOffer is what a ClusterRelease would change in a component.
type ComponentOffer struct {
	Release    string `json:"release"` // the ClusterRelease
	Version    string `json:"version"`
	Action     string `json:"action"`     // None, Install, Upgrade, Remove
	Kubernetes string `json:"kubernetes"` // the version that runs when the component changes
	// Newer is the version that is installed if it is newer than that of the offer: Refit does not
	// downgrade.
	Newer string `json:"newer,omitempty"`
	// Digest is what an approval covers. It is absent if problems keep the offer from being
	// computed.
	Digest   string             `json:"digest,omitempty"`
	Changes  *ObjectChanges     `json:"changes,omitempty"`
	Problems []ComponentProblem `json:"problems,omitempty"`
}

// Blocked is true if a problem blocks the offer.
func (o *ComponentOffer) Blocked() bool {
	for i := range o.Problems {
		if o.Problems[i].Blocks {
			return true
		}
	}
	return false
}

// ComponentProblem is what speaks against an offer.
type ComponentProblem struct {
	Reason  string `json:"reason"`
	Object  string `json:"object,omitempty"`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
	Blocks  bool   `json:"blocks"`
}

// ComponentProgress is an order for a component, and how far it is.
type ComponentProgress struct {
	Operation string `json:"operation"`
	Release   string `json:"release"`
	Action    string `json:"action"` // Install, Upgrade, Remove
	From      string `json:"from,omitempty"`
	To        string `json:"to,omitempty"`
	Permit    string `json:"permit"`   // Hold, Apply, Rollback
	Answered  bool   `json:"answered"` // the rest is about this order
	// Refused is why refit-components refuses the order, if it does.
	Refused string `json:"refused,omitempty"`
	// Phase is Idle, Applying, Succeeded, Failed, RollingBack or RolledBack.
	Phase          string           `json:"phase,omitempty"`
	Step           string           `json:"step,omitempty"`
	Waiting        string           `json:"waiting,omitempty"` // what the step waits for
	Steps          []ExplainStep    `json:"steps,omitempty"`
	Frozen         *ComponentFreeze `json:"frozen,omitempty"`
	Left           []string         `json:"left,omitempty"` // what a rollback left unchanged
	Error          *ExplainError    `json:"error,omitempty"`
	StartTime      time.Time        `json:"startTime,omitzero"`
	CompletionTime time.Time        `json:"completionTime,omitzero"`
}

// ComponentFreeze denies requests during an upgrade.
type ComponentFreeze struct {
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`            // when it is lifted at the latest
	Lifted bool      `json:"lifted,omitempty"` // it was, at its limit
}

// ComponentExplanation is the result of `refit components explain`.
type ComponentExplanation struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	ComponentState
	// Message is the state of the component in a sentence.
	Message string     `json:"message"`
	Next    []NextStep `json:"next,omitempty"`
}

// NextStep is something that the user can do next.
type NextStep struct {
	Purpose string `json:"purpose"`
	Command string `json:"command"`
}

// ComponentDiff is the result of `refit components diff`.
type ComponentDiff struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Cluster    string      `json:"cluster"`
	Component  string      `json:"component"`
	Offers     []OfferDiff `json:"offers"`
}

// OfferDiff is an offer, computed with the permissions of the user.
type OfferDiff struct {
	ComponentOffer
	// Recorded is the digest of the offer in the status of the Component, if it is another one.
	Recorded string `json:"recorded,omitempty"`
	// Notes are what could not be determined.
	Notes   []string     `json:"notes,omitempty"`
	Objects []ObjectDiff `json:"objects,omitempty"`
}

// ObjectDiff is the change of one object.
type ObjectDiff struct {
	Change string `json:"change"` // Create, Change, Delete, or Keep: a CRD that Refit never deletes
	Object string `json:"object"`
	Diff   string `json:"diff"` // unified; secret and random values are masked
}

// Adoption is the result of `refit components adopt`.
type Adoption struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`
	Component  string `json:"component"`
	Changed    bool   `json:"changed"` // false if it was adopted before
	DryRun     bool   `json:"dryRun,omitempty"`
	// Installed is the Helm release that Refit takes over, and Offers what it would change.
	Installed *InstalledComponent `json:"installed,omitempty"`
	Offers    []ComponentOffer    `json:"offers,omitempty"`
	Message   string              `json:"message"`
	Next      []NextStep          `json:"next,omitempty"`
}
