package rehearsal

// Finding is a problem that the target version has with the configuration or the data of this
// cluster.
type Finding struct {
	Reason  Reason `json:"reason"`
	Object  string `json:"object,omitempty"` // a flag, a file, a resource, an object
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
	// Unknown is set if the rehearsal could not answer: the problem may or may not exist.
	Unknown bool `json:"unknown,omitempty"`
}

// Reason is the kind of a finding.
type Reason string

// The reasons of findings.
const (
	FlagUnknown            Reason = "FlagUnknown"
	FlagInvalid            Reason = "FlagInvalid"
	FeatureGateUnknown     Reason = "FeatureGateUnknown"
	FeatureGateLocked      Reason = "FeatureGateLocked"
	AdmissionPluginUnknown Reason = "AdmissionPluginUnknown"
	RuntimeConfigUnknown   Reason = "RuntimeConfigUnknown"
	EncryptionInvalid      Reason = "EncryptionConfigInvalid"
	AuditPolicyInvalid     Reason = "AuditPolicyInvalid"
	AuthenticationInvalid  Reason = "AuthenticationConfigInvalid"
	AuthorizationInvalid   Reason = "AuthorizationConfigInvalid"
	AdmissionInvalid       Reason = "AdmissionConfigInvalid"
	CertificateInvalid     Reason = "CertificateInvalid"
	FileMissing            Reason = "FileMissing"
	MountMissing           Reason = "MountMissing"
	StartFailed            Reason = "StartFailed"      // for a cause that Refit does not recognize
	OutOfMemory            Reason = "OutOfMemory"      // Unknown: the bound of the rehearsal, not of the cluster
	Interrupted            Reason = "Interrupted"      // Unknown: the server was killed or stopped
	NotReady               Reason = "NotReady"         // a readiness check fails
	DecryptionFailed       Reason = "DecryptionFailed" // of a stored object
	StoredVersionMissing   Reason = "StoredVersionMissing"
	ListFailed             Reason = "ListFailed"            // for other causes
	ConversionUnavailable  Reason = "ConversionUnavailable" // Unknown: the webhook is not reachable
	KMSUnavailable         Reason = "KMSUnavailable"        // Unknown: the plugin does not answer
	ObservationFailed      Reason = "ObservationFailed"     // Unknown: the API server runs, but its answers are missing
)
