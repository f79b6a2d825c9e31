package rehearsal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Report is the result of the requests to the API server of a rehearsal. A process in its network
// writes it as JSON; all lists in it are bounded.
type Report struct {
	Version string `json:"version,omitempty"` // of the API server
	// Ready is set once all readiness checks pass; otherwise Checks are those that fail.
	Ready  bool     `json:"ready"`
	Checks []string `json:"checks,omitempty"`
	// Listed counts the resources whose lists succeeded, Objects the objects in them.
	Listed   int             `json:"listed"`
	Objects  int64           `json:"objects"`
	Failures []FailedRequest `json:"failures,omitempty"`
	// MoreFailures counts the failures beyond MaxFailures, MoreUnknown those whose finding is
	// Unknown.
	MoreFailures int64 `json:"moreFailures,omitempty"`
	MoreUnknown  int64 `json:"moreUnknown,omitempty"`
	// Skipped are the aggregated groups and versions.
	Skipped []string `json:"skipped,omitempty"`
	// Error is set if the requests ended early: discovery failed, for example.
	Error string `json:"error,omitempty"`
	// TimedOut is set if the requests ended early because nothing answered in time.
	TimedOut bool `json:"timedOut,omitempty"`
	// Restored are the figures of the restored database, in a drill.
	Restored Figures `json:"restored,omitzero"`
	// HashKV is the answer of etcd, in a drill.
	HashKV          uint32 `json:"hashKV,omitempty"`
	HashRevision    int64  `json:"hashRevision,omitempty"`
	CompactRevision int64  `json:"compactRevision,omitempty"`
}

// FailedRequest is a list that failed.
type FailedRequest struct {
	Resource Resource `json:"resource"`
	Message  string   `json:"message"`
}

// Bounds of a Report.
const (
	MaxFailures = 100
	MaxSkipped  = 100
)

var (
	untransformable = regexp.MustCompile(`unable to transform|not transformable|no matching prefix found|identity transformer tried to read encrypted data` +
		`|output array was not large enough for encryption|failed to decrypt|cipher: message authentication failed|failed to load DEK`)
	// kmsDown are the errors of a KMS plugin that does not answer. Any other error is its answer.
	kmsDown       = regexp.MustCompile(`dial unix |code = (?:Unavailable|DeadlineExceeded|Canceled)`)
	storedVersion = regexp.MustCompile(`convert CR from an invalid group/version: ([\w./-]+)`)
	webhookFailed = regexp.MustCompile(`conversion webhook for`)
	// tooSlow are answers of a host that is too slow for the rehearsal.
	tooSlow = regexp.MustCompile(`etcdserver: (?:request timed out|leader changed|no leader|too many requests)|context deadline exceeded` +
		`|within the allotted timeout|Client\.Timeout exceeded|\(504\)$`)
	storageKey = regexp.MustCompile(`/registry/[^\s"':\\]+`)
)

// AddFailure adds a list that failed, or counts it if there are too many.
func (r *Report) AddFailure(f FailedRequest) {
	if len(r.Failures) < MaxFailures {
		r.Failures = append(r.Failures, f)
		return
	}
	r.MoreFailures++
	if f.finding().Unknown {
		r.MoreUnknown++
	}
}

// Findings returns the findings of a report.
func (r Report) Findings() []Finding {
	var list []Finding
	if !r.Ready {
		list = r.unready()
	}
	for _, failure := range r.Failures {
		list = append(list, failure.finding())
	}
	if r.Error != "" || (!r.Ready && len(r.Checks) == 0) {
		list = append(list, Finding{
			Reason: ObservationFailed, Unknown: true, Message: clip("the API server started, but its resources could not be listed: " + r.Error),
			Remedy: "Run the rehearsal again; if this repeats, read the log of the API server in this rehearsal",
		})
	}
	return list
}

// kmsRemedy is the remedy for a KMS plugin that does not answer.
const kmsRemedy = "Check the KMS plugin of this host and its log, then rehearse again, or on another control plane node"

// unready returns the findings of the readiness checks that fail. Without a KMS plugin, the API
// server cannot read Secrets, and other checks may fail for that reason alone.
func (r Report) unready() []Finding {
	withoutKMS := slices.ContainsFunc(r.Checks, isKMS)
	var list []Finding
	for _, check := range r.Checks {
		f := Finding{
			Reason: NotReady, Object: "readiness check " + check, Message: fmt.Sprintf("the API server does not become ready: %s fails", check),
			Remedy: "Correct the other findings first; then read the log of the API server in this rehearsal", Unknown: withoutKMS,
		}
		if isKMS(check) {
			f.Reason, f.Remedy = KMSUnavailable, kmsRemedy
		}
		list = append(list, f)
	}
	return list
}

// isKMS reports whether a readiness check is that of a KMS plugin.
func isKMS(check string) bool { return strings.HasPrefix(check, "kms-provider") }

func (f FailedRequest) finding() Finding {
	object := f.Resource.String()
	if key := storageKey.FindString(f.Message); key != "" {
		object += " " + strings.TrimPrefix(key, "/registry/")
	}
	message := clip("cannot list " + f.Resource.String() + ": " + f.Message)
	switch {
	case webhookFailed.MatchString(f.Message):
		return Finding{
			Reason: ConversionUnavailable, Object: object, Message: message, Unknown: true,
			Remedy: "Migrate the stored objects to the storage version of the CRD (StorageVersionMigration), so that they can be read without the webhook",
		}
	case storedVersion.MatchString(f.Message):
		return Finding{
			Reason: StoredVersionMissing, Object: object, Message: message,
			Remedy: "Add the version " + storedVersion.FindStringSubmatch(f.Message)[1] + " to the CRD again, with served: false, and migrate its objects",
		}
	case untransformable.MatchString(f.Message) && kmsDown.MatchString(f.Message):
		return Finding{Reason: KMSUnavailable, Object: object, Message: message, Unknown: true, Remedy: kmsRemedy}
	case untransformable.MatchString(f.Message):
		return Finding{
			Reason: DecryptionFailed, Object: object, Message: message,
			Remedy: "Add the key that encrypted the object to the encryption configuration, or delete the object",
		}
	}
	if tooSlow.MatchString(f.Message) {
		return Finding{
			Reason: ObservationFailed, Object: object, Message: message, Unknown: true,
			Remedy: "Rehearse again while this host has little load, or on another control plane node",
		}
	}
	return Finding{
		Reason: ListFailed, Object: object, Message: message,
		Remedy: "List the resource in the live cluster (`kubectl get --raw " + f.Resource.Path() + "`) and correct or delete the object that fails",
	}
}
