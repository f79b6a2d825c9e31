package v1alpha1

// KindVersion is the kind of Version.
const KindVersion = "Version"

// Version is the result of `refit version`.
type Version struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Version    string   `json:"version"`
	Commit     string   `json:"commit,omitempty"`
	Go         string   `json:"go"`
	Platform   string   `json:"platform"`
	Kubernetes []string `json:"kubernetes"` // supported minor versions, oldest first
}
