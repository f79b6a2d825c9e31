package offer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// idTemplate keeps the identity of a cluster, as the chart of Liqo does.
const idTemplate = `{{- $old := lookup "v1" "ConfigMap" .Release.Namespace "identity" }}
apiVersion: v1
kind: ConfigMap
metadata: {name: identity}
data: {id: {{ .Values.id | default (dig "data" "id" "generated" ($old | default dict)) }}}
`

var capabilities = helm.Capabilities{Kubernetes: "v1.36.3"}

func TestAChartThatLooksUpObjects(t *testing.T) {
	own := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: identity, namespace: shop}\ndata: {id: rome}\n"
	for situation, c := range map[string]struct {
		template string
		values   map[string]any
		deployed string
		problem  string
	}{
		"values replace what it would keep":       {template: idTemplate, values: map[string]any{"id": "rome"}, deployed: own},
		"it would keep content":                   {template: idTemplate, deployed: own, problem: "keeps some of its content"},
		"its own object, which does not exist":    {template: idTemplate},
		"an object of somebody else":              {template: strings.ReplaceAll(idTemplate, `"identity" }}`, `"other" }}`), values: map[string]any{"id": "rome"}, problem: "reads ConfigMap/other from"},
		"a list":                                  {template: strings.ReplaceAll(idTemplate, `"identity" }}`, `"" }}`), values: map[string]any{"id": "rome"}, deployed: own, problem: "reads ConfigMap from"},
		"an object that only the old version has": {template: strings.ReplaceAll(idTemplate, "metadata: {name: identity}", "metadata: {name: renamed}"), values: map[string]any{"id": "rome"}, deployed: own},
	} {
		t.Run(situation, func(t *testing.T) {
			in := Input{Capabilities: capabilities, Action: component.Upgrade, Component: refitv1alpha1.ReleaseComponent{Name: "app", Release: refitv1alpha1.HelmRelease{Namespace: "shop", Name: "app"}}}
			if c.deployed != "" {
				in.Deployed = &helm.Record{Objects: objectsOf(t, c.deployed)}
			}
			u := helm.Upgrade{Chart: chartOf(t, c.template), Values: c.values}
			var err error
			if u.Rendering, err = helm.Render(t.Context(), u.Chart, u.Values, helm.Release(in.Component.Release), capabilities, true); err != nil {
				t.Fatal(err)
			}
			o := &Offer{}
			if err := o.lookups(t.Context(), in, u); err != nil {
				t.Fatal(err)
			}
			switch {
			case c.problem == "" && len(o.Problems) > 0:
				t.Errorf("problems %+v", o.Problems)
			case c.problem != "" && (len(o.Problems) != 1 || o.Problems[0].Reason != "ChartReadsCluster" || !strings.Contains(o.Problems[0].Message, c.problem)):
				t.Errorf("problems %+v, want %q", o.Problems, c.problem)
			}
		})
	}
}

// objectsOf returns the objects of a manifest, as a record has them.
func objectsOf(t *testing.T, manifest string) []helm.Object {
	t.Helper()
	r, err := helm.Render(t.Context(), chartOf(t, manifest), nil, helm.Release{Namespace: "shop", Name: "app"}, capabilities, true)
	if err != nil {
		t.Fatal(err)
	}
	return r.Objects
}

func chartOf(t *testing.T, template string) *helm.Chart {
	t.Helper()
	directory := t.TempDir()
	for name, content := range map[string]string{
		"Chart.yaml":              "apiVersion: v2\nname: app\nversion: 1.0.0\n",
		"templates/identity.yaml": template,
	} {
		path := filepath.Join(directory, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	archive, err := helm.Pack(directory)
	if err != nil {
		t.Fatal(err)
	}
	chart, err := helm.Load(archive)
	if err != nil {
		t.Fatal(err)
	}
	return chart
}
