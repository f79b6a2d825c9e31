package helm

import (
	"io"

	"helm.sh/helm/v4/pkg/kube"
)

// A kubeClient is Helm's client of the API server for one action.
type kubeClient struct{ *kube.Client }

// Build never validates. Helm validates by itself only what the API server cannot validate, and
// parses the whole OpenAPI document of each group to find that out.
func (c *kubeClient) Build(reader io.Reader, _ bool) (kube.ResourceList, error) {
	return c.Client.Build(reader, false)
}
