package helm

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"k8s.io/apimachinery/pkg/util/json"
)

const (
	// MaxArchive bounds the packed size of a chart: it travels in a ConfigMap.
	MaxArchive = 900 << 10
	// maxUnpacked bounds what a packed chart expands to.
	maxUnpacked = 32 << 20
)

// A Chart is a packed chart with all its dependencies.
type Chart struct {
	Name, Version, AppVersion string
	archive                   []byte
}

// Load reads a packed chart.
func Load(archive []byte) (*Chart, error) {
	if len(archive) > MaxArchive {
		return nil, fmt.Errorf("cannot read the chart: it has %d bytes, at most %d are allowed", len(archive), MaxArchive)
	}
	c := &Chart{archive: archive}
	content, err := c.open()
	if err != nil {
		return nil, err
	}
	if content.Metadata == nil || content.Metadata.Type == "library" {
		return nil, errors.New("cannot read the chart: a library chart has no objects")
	}
	if err := vendored(content); err != nil {
		return nil, err
	}
	if err := localSchema(content); err != nil {
		return nil, err
	}
	c.Name, c.Version, c.AppVersion = content.Name(), content.Metadata.Version, content.Metadata.AppVersion
	return c, nil
}

// open returns a new copy of the content, since Helm changes it when it renders.
func (c *Chart) open() (*chartv2.Chart, error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(c.archive))
	if err != nil {
		return nil, fmt.Errorf("cannot read the chart: %w", err)
	}
	size, err := io.Copy(io.Discard, io.LimitReader(unpacked, maxUnpacked+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the chart: %w", err)
	}
	if size > maxUnpacked {
		return nil, fmt.Errorf("cannot read the chart: it expands to more than %d bytes", maxUnpacked)
	}
	content, err := loader.LoadArchive(bytes.NewReader(c.archive))
	if err != nil {
		return nil, fmt.Errorf("cannot read the chart: %w", err)
	}
	return content, nil
}

// vendored returns an error if a dependency is not in the archive.
func vendored(content *chartv2.Chart) error {
	has := map[string]bool{}
	for _, dependency := range content.Dependencies() {
		has[dependency.Name()] = true
		if err := vendored(dependency); err != nil {
			return err
		}
	}
	for _, needed := range content.Metadata.Dependencies {
		if !has[needed.Name] {
			return fmt.Errorf("cannot read the chart: the dependency %s of %s is not in the archive", needed.Name, content.Name())
		}
	}
	return nil
}

// localSchema returns an error if the validation of values would read from the network.
func localSchema(content *chartv2.Chart) error {
	if len(content.Schema) > 0 {
		var schema any
		if err := json.Unmarshal(content.Schema, &schema); err != nil {
			return fmt.Errorf("cannot read values.schema.json of %s: %w", content.Name(), err)
		}
		if ref := remoteRef(schema); ref != "" {
			return fmt.Errorf("cannot read the chart %s: %w: %s", content.Name(), ErrRemoteSchema, ref)
		}
	}
	for _, dependency := range content.Dependencies() {
		if err := localSchema(dependency); err != nil {
			return err
		}
	}
	return nil
}

func remoteRef(schema any) string {
	switch node := schema.(type) {
	case map[string]any:
		for key, value := range node {
			if text, ok := value.(string); ok && strings.HasSuffix(strings.ToLower(key), "ref") && strings.Contains(text, "://") {
				return text
			}
			if found := remoteRef(value); found != "" {
				return found
			}
		}
	case []any:
		for _, value := range node {
			if found := remoteRef(value); found != "" {
				return found
			}
		}
	}
	return ""
}

// Capabilities are what a chart sees of the cluster.
type Capabilities struct {
	Kubernetes  string   // version, such as v1.36.3
	APIVersions []string // such as apps/v1 and apps/v1/Deployment; nil: those that Helm knows
}

func (c Capabilities) helm() (*common.Capabilities, error) {
	version, err := common.ParseKubeVersion(c.Kubernetes)
	if err != nil {
		return nil, fmt.Errorf("cannot read the version of Kubernetes: %w", err)
	}
	found := common.DefaultCapabilities.Copy()
	found.KubeVersion = *version
	if c.APIVersions != nil {
		found.APIVersions = common.VersionSet(c.APIVersions)
	}
	return found, nil
}
