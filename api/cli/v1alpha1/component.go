package v1alpha1

// Component is what a stage does to one component.
type Component struct {
	Name   string `json:"name"`
	Action string `json:"action"` // Install, Upgrade, Remove
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Reason string `json:"reason,omitempty"` // why it has this place in the order
	// Changes is what it changes, absent while that is not known: it is computed once the stages
	// before it are complete.
	Changes  *ObjectChanges `json:"changes,omitempty"`
	Digest   string         `json:"digest"` // what an approval covers
	Estimate Estimate       `json:"estimate,omitzero"`
}

// ObjectChanges counts the objects of a component that change.
type ObjectChanges struct {
	Create int32 `json:"create"`
	Change int32 `json:"change"`
	Delete int32 `json:"delete"`
	// Deletes are some of the deleted objects.
	Deletes []string    `json:"deletes,omitempty"`
	CRDs    []CRDChange `json:"crds,omitempty"`
}

// CRDChange is the change of a CRD.
type CRDChange struct {
	Name    string `json:"name"`
	Storage string `json:"storage,omitempty"` // the new storage version, if it changes
	Objects int64  `json:"objects"`           // that were checked
}
