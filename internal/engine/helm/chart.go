package helm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

const (
	// MaxArchive bounds the packed size of a chart: it travels in a ConfigMap.
	MaxArchive = 900 << 10
	// maxUnpacked bounds what a packed chart expands to.
	maxUnpacked = 32 << 20
	// maxNested bounds how deeply packed dependencies are nested.
	maxNested = 8
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
	left := int64(maxUnpacked)
	if err := measure(c.archive, &left, maxNested); err != nil {
		return nil, fmt.Errorf("cannot read the chart: %w", err)
	}
	content, err := loader.LoadArchive(bytes.NewReader(c.archive))
	if err != nil {
		return nil, fmt.Errorf("cannot read the chart: %w", err)
	}
	return content, nil
}

// measure returns an error if an archive and those of its dependencies expand to more bytes
// together than are left. Helm limits each of them alone.
func measure(archive []byte, left *int64, depth int) error {
	if depth == 0 {
		return errors.New("its dependencies are nested too deeply")
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return err
	}
	content, err := io.ReadAll(io.LimitReader(unpacked, *left+1))
	if err != nil {
		return err
	}
	if *left -= int64(len(content)); *left < 0 {
		return fmt.Errorf("it expands to more than %d bytes", maxUnpacked)
	}
	files := tar.NewReader(bytes.NewReader(content))
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if path.Ext(header.Name) != ".tgz" {
			continue
		}
		nested, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		if err := measure(nested, left, depth-1); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
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

// localSchema returns an error if the validation of values would read from the network or from a
// disk.
func localSchema(content *chartv2.Chart) error {
	if len(content.Schema) > 0 {
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(content.Schema))
		if err != nil {
			return fmt.Errorf("cannot read values.schema.json of %s: %w", content.Name(), err)
		}
		compiler := jsonschema.NewCompiler()
		compiler.UseLoader(noLoader{})
		if err := compiler.AddResource(schemaURL, schema); err != nil {
			return fmt.Errorf("cannot read values.schema.json of %s: %w", content.Name(), err)
		}
		if _, err := compiler.Compile(schemaURL); err != nil {
			return fmt.Errorf("cannot read values.schema.json of %s: %w", content.Name(), err)
		}
	}
	for _, dependency := range content.Dependencies() {
		if err := localSchema(dependency); err != nil {
			return err
		}
	}
	return nil
}

// schemaURL is how Helm names the schema, and what relative references are relative to.
const schemaURL = "file:///values.schema.json"

// noLoader loads no schema that another one refers to. As in Helm, a name matches everything.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	if strings.HasPrefix(url, "urn:") {
		return true, nil
	}
	return nil, fmt.Errorf("%w: %s", ErrRemoteSchema, url)
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
