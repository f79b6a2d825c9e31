package helm

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	release "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
)

// A Release is the name of a release and its namespace.
type Release struct{ Namespace, Name string }

// A Rendering is the content of a chart for one release.
type Rendering struct {
	Objects []Object // in the order in which Helm installs them
	Hooks   []Object
	CRDs    []Object // of crds/ and of templates
	Images  []string
	// Lookups are what the chart read from the cluster and did not find; a list has no name. The
	// rendering can differ from that of Helm then: a chart that keeps a password creates a new one.
	Lookups []Ref
	// Clock is set if a template may read the clock: two renderings in the same second do not show
	// what differs in another one.
	Clock bool
}

// Render renders a chart without a cluster: functions that read from one find the given objects,
// and nothing else. It validates the values with the schema of the chart. Upgrades render for an
// upgrade, with revision 2, so that the rendering does not depend on the history of a release.
func Render(
	ctx context.Context, chart *Chart, values map[string]any, r Release, capabilities Capabilities, upgrade bool, objects ...Object,
) (Rendering, error) {
	content, err := chart.open()
	if err != nil {
		return Rendering{}, err
	}
	caps, err := capabilities.helm()
	if err != nil {
		return Rendering{}, err
	}
	read := newLookups(r.Namespace, objects)
	files, err := renderFiles(ctx, content, values, r, caps, upgrade, read)
	if err != nil {
		return Rendering{}, fmt.Errorf("cannot render the chart %s: %w", chart.Name, err)
	}
	rendering, err := sortFiles(files, r.Namespace)
	if err != nil {
		return Rendering{}, fmt.Errorf("cannot render the chart %s: %w", chart.Name, err)
	}
	for _, crd := range content.CRDObjects() {
		found, err := objectsOf(string(crd.File.Data), crd.Filename, r.Namespace)
		if err != nil {
			return Rendering{}, err
		}
		rendering.CRDs = append(rendering.CRDs, found...)
	}
	slices.SortStableFunc(rendering.CRDs, func(a, b Object) int { return compareRefs(a.Ref, b.Ref) })
	rendering.Lookups, rendering.Clock = read.sorted(), readsClock(content, values)
	rendering.Images = imagesOf(slices.Concat(rendering.Objects, rendering.Hooks))
	return rendering, nil
}

// clock matches the function of templates that returns the time.
var clock = regexp.MustCompile(`\{\{[^}]*\bnow\b`)

// readsClock reports whether a template of a chart may read the clock. Values can be templates,
// too.
func readsClock(content *chartv2.Chart, values map[string]any) bool {
	for _, file := range slices.Concat(content.Templates, content.Raw) {
		if clock.Match(file.Data) {
			return true
		}
	}
	if slices.ContainsFunc(content.Dependencies(), func(d *chartv2.Chart) bool { return readsClock(d, nil) }) {
		return true
	}
	text, err := json.Marshal(values)
	return err == nil && clock.Match(text)
}

func renderFiles(
	ctx context.Context, content *chartv2.Chart, values map[string]any, r Release, caps *common.Capabilities, upgrade bool, read *lookups,
) (map[string]string, error) {
	if required := content.Metadata.KubeVersion; required != "" && !chartutil.IsCompatibleRange(required, caps.KubeVersion.String()) {
		return nil, fmt.Errorf("it requires Kubernetes %s, not %s", required, caps.KubeVersion.Version)
	}
	values = copyValues(values)
	if err := chartutil.ProcessDependencies(content, values); err != nil {
		return nil, err
	}
	options := common.ReleaseOptions{Name: r.Name, Namespace: r.Namespace, Revision: 1, IsInstall: !upgrade, IsUpgrade: upgrade}
	if upgrade {
		options.Revision = 2
	}
	toRender, err := util.ToRenderValuesWithSchemaValidation(content, values, options, caps, false)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrValues, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	files, err := engine.RenderWithClientProvider(content, toRender, read)
	if err != nil {
		return nil, err
	}
	for path := range files {
		if strings.HasSuffix(path, "NOTES.txt") {
			delete(files, path)
		}
	}
	return files, nil
}

// sortFiles splits rendered files into objects, hooks and CRDs.
func sortFiles(files map[string]string, namespace string) (Rendering, error) {
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return Rendering{}, err
	}
	var rendering Rendering
	for _, manifest := range manifests {
		found, err := objectsOf(manifest.Content, manifest.Name, namespace)
		if err != nil {
			return Rendering{}, err
		}
		rendering.Objects = append(rendering.Objects, found...)
	}
	rendering.Objects, rendering.CRDs = withoutCRDs(rendering.Objects)
	found, err := hookObjects(hooks, namespace)
	if err != nil {
		return Rendering{}, err
	}
	var crds []Object
	rendering.Hooks, crds = withoutCRDs(found)
	rendering.CRDs = append(rendering.CRDs, crds...)
	return rendering, nil
}

func hookObjects(hooks []*release.Hook, namespace string) ([]Object, error) {
	var objects []Object
	for _, hook := range hooks {
		found, err := objectsOf(hook.Manifest, hook.Path, namespace)
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// copyValues returns a deep copy, since Helm changes the values that it renders.
func copyValues(values map[string]any) map[string]any {
	out := make(map[string]any, len(values))
	for key, item := range values {
		out[key] = copyValue(item)
	}
	return out
}

func copyValue(value any) any {
	switch node := value.(type) {
	case map[string]any:
		return copyValues(node)
	case []any:
		out := make([]any, len(node))
		for i, item := range node {
			out[i] = copyValue(item)
		}
		return out
	default:
		return value
	}
}
