package output

// Version is the answer of `refit version`.
type Version struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Version    string   `json:"version"`
	Commit     string   `json:"commit,omitempty"`
	Go         string   `json:"go"`
	Platform   string   `json:"platform"`
	Kubernetes []string `json:"kubernetes"` // the minor versions that are supported, oldest first
}
