package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
	"github.com/refit-dev/refit/internal/engine/artifact/create"
	"github.com/refit-dev/refit/internal/engine/check"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

// maxComponentsFile bounds the file of a publisher: it must fit into an envelope.
const maxComponentsFile = 1 << 20

// componentsFile is the file that a publisher writes.
type componentsFile struct {
	Components []sourceComponent            `json:"components"`
	Form       *refitv1alpha1.ComponentForm `json:"form"`
}

// sourceComponent is a component whose chart is a path, relative to the file: an archive, or a
// directory that is packed.
type sourceComponent struct {
	refitv1alpha1.ReleaseComponent
	Chart string `json:"chart"`
}

// packed are components with their charts, and the images that they need.
type packed struct {
	components []refitv1alpha1.ReleaseComponent
	charts     map[string][]byte
	images     []create.NeededImage
	form       *refitv1alpha1.ComponentForm
}

// pack reads the components of a file, packs their charts, and renders them for a version of
// Kubernetes.
func pack(ctx context.Context, file, kubernetes string, doing func(what string)) (*packed, error) {
	read, err := readComponents(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the components in %s: %w", file, err)
	}
	out, sources := &packed{charts: map[string][]byte{}, form: read.Form}, read.Components
	for i := range sources {
		if doing != nil {
			doing("chart " + sources[i].Chart)
		}
		if err := out.add(ctx, &sources[i], filepath.Dir(file), kubernetes); err != nil {
			return nil, fmt.Errorf("%s: components[%d] (%s): %w", file, i, sources[i].Name, err)
		}
	}
	// The digest of the ClusterRelease is not known yet.
	some := refitv1alpha1.ComponentsPayload{Release: charts.Identify(nil).Digest, Components: out.components, Form: out.form}
	if _, err := artifact.EncodeComponents(some); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if out.form != nil {
		if err := check.VerifyForm(ctx, out.form); err != nil { // only refit serve would find it otherwise
			return nil, fmt.Errorf("%s: form: %w", file, err)
		}
	}
	return out, nil
}

func readComponents(file string) (*componentsFile, error) {
	raw, err := readBounded(file, maxComponentsFile)
	if err != nil {
		return nil, err
	}
	only, err := document.Only(raw, "list of components")
	if err != nil {
		return nil, err
	}
	text, err := yaml.YAMLToJSONStrict(only)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	var parsed componentsFile
	if err := decoder.Decode(&parsed); err != nil {
		return nil, err
	}
	if len(parsed.Components) == 0 {
		return nil, errors.New("it has no components")
	}
	for i := range parsed.Components {
		if err := utiljson.ConvertMapNumbers(parsed.Components[i].Values, 0); err != nil {
			return nil, fmt.Errorf("components[%d].values: %w", i, err)
		}
	}
	return &parsed, form.DecodeDefaults(parsed.Form)
}

// add packs and renders the chart of a component.
func (p *packed) add(ctx context.Context, source *sourceComponent, directory, kubernetes string) error {
	archive, err := readChart(source.Chart, directory)
	if err != nil {
		return err
	}
	chart, err := helm.Load(archive)
	if err != nil {
		return err
	}
	c := source.ReleaseComponent
	c.Chart = charts.Identify(archive)
	switch c.Version {
	case "":
		c.Version = chart.Version
	case chart.Version:
	default:
		return fmt.Errorf("version is %s, but the chart has %s", c.Version, chart.Version)
	}
	fits, err := component.FitsKubernetes(c, kubernetes)
	if err != nil {
		return err
	}
	if !fits {
		return fmt.Errorf("version %s does not fit Kubernetes %s (fits): a ClusterRelease offers only what runs on its own Kubernetes", c.Version, kubernetes)
	}
	if err := compileChecks(c.Checks); err != nil {
		return err
	}
	images, err := imagesOf(ctx, chart, c, kubernetes)
	if err != nil {
		return err
	}
	p.components, p.charts[c.Chart.Digest] = append(p.components, c), archive
	for _, image := range images {
		needed := create.NeededImage{Name: image, By: c.Name + " " + c.Version}
		if !slices.ContainsFunc(p.images, func(n create.NeededImage) bool { return n.Name == image }) {
			p.images = append(p.images, needed)
		}
	}
	return nil
}

// compileChecks fails if a rule does not compile. Only refit-components would find it otherwise.
func compileChecks(checks []refitv1alpha1.ComponentCheck) error {
	if err := component.ValidateChecks(checks); err != nil {
		return err
	}
	for i := range checks {
		if err := check.Compile(&checks[i]); err != nil {
			return fmt.Errorf("checks[%d].%w", i, err)
		}
	}
	return nil
}

// imagesOf returns the images that a chart needs, installed as well as upgraded.
func imagesOf(ctx context.Context, chart *helm.Chart, c refitv1alpha1.ReleaseComponent, kubernetes string) (images []string, err error) {
	for _, upgrade := range []bool{false, true} {
		rendering, err := helm.Render(ctx, chart, c.Values, helm.Release{Namespace: c.Release.Namespace, Name: c.Release.Name},
			helm.Capabilities{Kubernetes: kubernetes}, upgrade)
		if err != nil {
			return nil, err
		}
		for _, image := range slices.Concat(rendering.Images, c.Images) {
			full, err := create.FullName(image)
			if err != nil {
				return nil, err
			}
			images = append(images, full)
		}
	}
	slices.Sort(images)
	images = slices.Compact(images)
	return images, hasVariables(c, images)
}

// hasVariables fails if a recipe refers to an image that the chart does not have.
func hasVariables(c refitv1alpha1.ReleaseComponent, images []string) error {
	variables := component.Variables{From: c.Version, To: c.Version, Images: component.ImagesByName(images)}
	for i, step := range c.Recipe {
		if step.Patch == nil {
			continue
		}
		if _, err := variables.Expand(step.Patch.Value); err != nil {
			return fmt.Errorf("recipe[%d]: %w", i, err)
		}
	}
	return nil
}

// readChart returns a packed chart: an archive as it is, or a directory.
func readChart(path, directory string) ([]byte, error) {
	if path == "" {
		return nil, errors.New("chart is missing: the path of an archive or of a directory")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(directory, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the chart: %w", err)
	}
	if info.IsDir() {
		return helm.Pack(path)
	}
	return readBounded(path, artifact.MaxChart)
}

func readBounded(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return raw, err
}
