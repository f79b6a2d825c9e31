package v1alpha1

import "time"

// KindSupportBundle is the kind of SupportBundle.
const KindSupportBundle = "SupportBundle"

// SupportBundle is the index of a support bundle: the file index.json in it, and the result of
// `refit support-bundle`. A part that could not be collected is listed with its error, so that a
// missing part differs from one without content.
type SupportBundle struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster,omitempty"` // empty: a bundle of one host, without the API
	// File is the archive on the machine of the user; empty in the archive.
	File      string `json:"file,omitempty"`
	FileBytes int64  `json:"fileBytes,omitempty"` // its size
	// Operation is the ClusterUpgrade that the bundle is about; empty if there is none, or without
	// the API.
	Operation string `json:"operation,omitempty"`
	// Host is the host that a bundle without the API is about.
	Host    string    `json:"host,omitempty"`
	Version string    `json:"version"` // of the binary that collected it
	Time    time.Time `json:"time"`    // when the collection started
	// Since and Until bound the logs and journals.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// APIUnreachable is the error of the API server, if the cluster's part is missing for that.
	APIUnreachable *BundleError `json:"apiUnreachable,omitempty"`
	Parts          []BundlePart `json:"parts"`
	// Redactions is how often each rule has redacted something in all parts. Rules without a
	// redaction are listed, too: they were applied.
	Redactions map[string]int64 `json:"redactions"`
	Seconds    int64            `json:"seconds"`
}

// BundlePart is a part of a support bundle. A part without a path is not in the archive.
type BundlePart struct {
	Path   string `json:"path,omitempty"`
	Source string `json:"source"`         // what was read, such as "journal of kubelet.service"
	Node   string `json:"node,omitempty"` // the node whose host it was read on
	// Bytes is the size in the archive before compression.
	Bytes int64 `json:"bytes"`
	// Items is the number of objects, or of entries of a journal.
	Items int64 `json:"items,omitempty"`
	// Truncated is true if older or further content did not fit the limit.
	Truncated  bool             `json:"truncated"`
	Redactions map[string]int64 `json:"redactions,omitempty"`
	// Note is what is not complete without being an error, such as damaged entries of a journal.
	Note  string       `json:"note,omitempty"`
	Error *BundleError `json:"error,omitempty"`
}

// BundleError is why a part, or the rest of it, is missing.
type BundleError struct {
	// Class is that of a failure: Transient, or ManualInterventionRequired.
	Class   string `json:"class"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}
