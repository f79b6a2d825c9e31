package v1alpha1

// ComponentCheck is a condition of the publisher for the installation or the upgrade of a
// component: a CEL rule about objects of the cluster. It is evaluated before the plan, and again
// before the component changes.
//
// Exactly one of Rule and ListRule is set. Both know from, to and kubernetes: the versions of the
// component before and after the change, and of Kubernetes during it. From is empty for an
// installation.
//
// +kubebuilder:object:generate=false
type ComponentCheck struct {
	// Name is the name of the check, unique in the component.
	Name string `json:"name"`
	// Objects are the objects that the rule is about.
	Objects CheckedObjects `json:"objects"`
	// When is the change that the check is for. The default is Always.
	When CheckTime `json:"when,omitempty"`
	// Rule must be true for each object. It knows the object as object.
	Rule string `json:"rule,omitempty"`
	// ListRule must be true for all objects together. It knows them as the list objects, which is
	// empty if the cluster does not have the kind.
	ListRule string `json:"listRule,omitempty"`
	// Message describes the problem. Refit adds the names of the objects.
	Message string `json:"message"`
	// Remedy is how to fix it.
	Remedy string `json:"remedy"`
	// Severity is whether the problem blocks the upgrade. The default is Block.
	Severity CheckSeverity `json:"severity,omitempty"`
}

// CheckedObjects selects the objects of a check. Secrets cannot be selected: their values must not
// reach a message.
//
// +kubebuilder:object:generate=false
type CheckedObjects struct {
	// Kind is a kind and its group, such as ClusterQueue.kueue.x-k8s.io, or a kind of the core
	// group, such as Pod.
	Kind string `json:"kind"`
	// Version is the version of the API that the rule is written for. Without it, objects have the
	// version that the API server prefers. A version that is not served makes the check fail.
	Version string `json:"version,omitempty"`
	// Namespace limits the check to one namespace.
	Namespace string `json:"namespace,omitempty"`
	// Selector limits the check to objects with these labels, in the syntax of kubectl, such as
	// app.kubernetes.io/name=kueue.
	Selector string `json:"selector,omitempty"`
}

// CheckTime is the change that a check is for.
type CheckTime string

// The changes that a check can be for.
const (
	CheckAlways    CheckTime = "Always"
	CheckOnInstall CheckTime = "Install"
	CheckOnUpgrade CheckTime = "Upgrade"
)

// CheckSeverity is whether the problem of a check blocks the upgrade.
type CheckSeverity string

// The severities of a check.
const (
	CheckBlocks CheckSeverity = "Block"
	CheckWarns  CheckSeverity = "Warn"
)
