package crd

// Reason is the check that a finding belongs to.
type Reason string

const (
	// RefusesObjects means that the API server refuses live objects under the new CRD: nobody can
	// change the field that it refuses, and nobody can restore the object from a backup.
	RefusesObjects Reason = "CRDRefusesObjects"
	// DropsFields means that live objects have fields that the new CRD lacks: the API server drops
	// them at the next write.
	DropsFields Reason = "CRDDropsFields"
	// ChangeRefused means that the API server refuses the new CRD.
	ChangeRefused Reason = "CRDChangeRefused"
	// RemovesVersion means that clients of a version get errors.
	RemovesVersion Reason = "CRDRemovesVersion"
	// ChangesStorage means that the API server stores or converts objects differently.
	ChangesStorage Reason = "CRDChangesStorage"
	// ConversionUnavailable means that objects cannot be converted between versions.
	ConversionUnavailable Reason = "CRDConversionUnavailable"
)

// Defect is what is wrong with a change.
type Defect string

const (
	// VersionRemoved is a version that the old CRD serves and the new one does not.
	VersionRemoved Defect = "VersionRemoved"
	// StorageVersionRemoved is a version of status.storedVersions that the new CRD lacks.
	StorageVersionRemoved Defect = "StorageVersionRemoved"
	// StorageVersionChanged is another storage version than before.
	StorageVersionChanged Defect = "StorageVersionChanged"
	// ScopeChanged is a change between Namespaced and Cluster.
	ScopeChanged Defect = "ScopeChanged"
	// NamesChanged is another group, plural or kind.
	NamesChanged Defect = "NamesChanged"
	// ConversionChanged is another conversion strategy.
	ConversionChanged Defect = "ConversionChanged"
	// ConversionWebhookUnreachable is a conversion webhook that does not respond.
	ConversionWebhookUnreachable Defect = "ConversionWebhookUnreachable"
	// DefinitionInvalid is a CRD that fails the validation of the API server for another cause.
	DefinitionInvalid Defect = "DefinitionInvalid"
	// SchemaTightened is a value that the schema refuses.
	SchemaTightened Defect = "SchemaTightened"
	// RequiredFieldMissing is a required field that an object lacks and that has no default.
	RequiredFieldMissing Defect = "RequiredFieldMissing"
	// ListTypeChanged is a list with entries that are not unique, although its type is set or map.
	ListTypeChanged Defect = "ListTypeChanged"
	// CELRuleRefuses is a value that a rule of x-kubernetes-validations refuses.
	CELRuleRefuses Defect = "CELRuleRefuses"
	// EmbeddedObjectInvalid is an embedded object with invalid apiVersion, kind or metadata.
	EmbeddedObjectInvalid Defect = "EmbeddedObjectInvalid"
	// FieldDropped is a field that the schema lacks.
	FieldDropped Defect = "FieldDropped"
)

// Severity is the effect of a finding on the upgrade.
type Severity string

const (
	// Block means that the change must not be applied.
	Block Severity = "Block"
	// Warn means that the change can be applied.
	Warn Severity = "Warn"
)

// Finding is one problem of a change.
type Finding struct {
	Reason   Reason
	Defect   Defect
	Severity Severity
	// Version is the version of the CRD in which the problem occurs; empty if it concerns all.
	Version string
	// Object is NAMESPACE/NAME or NAME; empty if the problem is in the definition itself.
	Object string
	// Field is the path of the field, such as spec.rules[0].port; empty for the whole object.
	Field string
	// Message describes the problem. It contains no value of the object, unless a CEL rule's own
	// message does.
	Message string
}
