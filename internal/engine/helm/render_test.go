package helm

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  replicas: {{ .Values.replicas }}
  template:
    spec:
      initContainers: [{name: a, image: "registry.test/init:1"}]
      containers: [{name: b, image: "registry.test/app:{{ .Chart.AppVersion }}"}]
      volumes: [{name: c, image: {reference: "registry.test/data:2"}}]
`
	job = `apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: pre-upgrade}}
spec: {template: {spec: {containers: [{name: a, image: "registry.test/migrate:1"}]}}}
`
	crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s.example.test}
`
)

func TestRender(t *testing.T) {
	chart := chartOf(t, map[string]string{
		"values.yaml":               "replicas: 2\n",
		"templates/deployment.yaml": deployment,
		"templates/hook.yaml":       job,
		"templates/crd.yaml":        strings.ReplaceAll(crd, "%s", "templated"),
		"templates/settings.yaml": `{{- if .Capabilities.APIVersions.Has "apps/v1" }}
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {minor: {{ .Capabilities.KubeVersion.Minor | quote }}, upgrade: {{ .Release.IsUpgrade | quote }}, live: {{ lookup "v1" "Namespace" "" "shop" | len | quote }}}
{{- end }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: elsewhere, namespace: other}
`,
		"templates/NOTES.txt": "not an object",
		"crds/plain.yaml":     strings.ReplaceAll(crd, "%s", "plain"),
	})
	got, err := Render(t.Context(), chart, map[string]any{"replicas": 3}, Release{"shop", "app"}, target, true)
	must(t, err)
	for what, c := range map[string]struct{ got, want []string }{
		"objects": {names(got.Objects), []string{"ConfigMap/settings", "ConfigMap/other/elsewhere", "Deployment.apps/app"}},
		"hooks":   {names(got.Hooks), []string{"Job.batch/migrate"}},
		"CRDs": {names(got.CRDs), []string{
			"CustomResourceDefinition.apiextensions.k8s.io/plain.example.test", "CustomResourceDefinition.apiextensions.k8s.io/templated.example.test",
		}},
		"images": {got.Images, []string{"registry.test/app:1.0", "registry.test/data:2", "registry.test/init:1", "registry.test/migrate:1"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", what, c.got, c.want)
		}
	}
	settings := got.Objects[slices.IndexFunc(got.Objects, func(o Object) bool { return o.Name == "settings" })]
	if want := map[string]any{"minor": "36", "upgrade": "true", "live": "0"}; !reflect.DeepEqual(settings.Content.Object["data"], want) {
		t.Errorf("the data is %v, want %v", settings.Content.Object["data"], want)
	}
	if settings.Source != "app/templates/settings.yaml" {
		t.Errorf("the source is %q", settings.Source)
	}
}

func TestAChartThatReadsTheClock(t *testing.T) {
	const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for text, reads := range map[string]bool{
		config + "data: {at: {{ now | unixEpoch | quote }}}":                     true,
		config + "data: {at: {{ dateInZone \"2006\" (now) \"UTC\" | quote }}}":   true,
		config + "data: {at: now, known: {{ .Values.known | quote }}} # run now": false,
	} {
		got, err := Render(t.Context(), chartOf(t, map[string]string{"values.yaml": "known: x\n", "templates/a.yaml": text}), nil, Release{"shop", "app"}, target, true)
		must(t, err)
		if got.Clock != reads {
			t.Errorf("%s: %v", text, got.Clock)
		}
	}
	files := map[string]string{"values.yaml": "text: x\n", "templates/a.yaml": config + "data: {at: {{ tpl .Values.text . | quote }}}"}
	got, err := Render(t.Context(), chartOf(t, files), map[string]any{"text": "{{ now }}"}, Release{"shop", "app"}, target, true)
	must(t, err)
	if !got.Clock {
		t.Error("a value that is a template does not count")
	}
}

func TestAChartThatReadsTheCluster(t *testing.T) {
	chart := chartOf(t, map[string]string{
		"values.yaml": "again: true\n",
		"templates/password.yaml": `{{- $old := lookup "v1" "Secret" .Release.Namespace "password" }}
{{- $roles := lookup "rbac.authorization.k8s.io/v1" "ClusterRole" "" "" }}
{{- if not .Values.again }}{{ lookup "v1" "Node" "" "a" }}{{ end }}
apiVersion: v1
kind: Secret
metadata: {name: password}
data: {password: {{ if $old }}{{ $old.data.password }}{{ else }}{{ randAlphaNum 20 | b64enc }}{{ end }}, roles: {{ len $roles | toString | b64enc }}}
`,
	})
	rendering, err := Render(t.Context(), chart, nil, Release{"shop", "app"}, target, true)
	must(t, err)
	roles := Ref{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}
	if want := []Ref{roles, {Kind: "Secret", Name: "password"}}; !slices.Equal(rendering.Lookups, want) {
		t.Errorf("the chart reads %q, want %q", rendering.Lookups, want)
	}
	old, err := objectsOf("apiVersion: v1\nkind: Secret\nmetadata: {name: password, namespace: shop}\nstringData: {password: old}\n", "", "shop")
	must(t, err)
	rendering, err = Render(t.Context(), chart, nil, Release{"shop", "app"}, target, true, old...)
	must(t, err)
	if want := []Ref{roles}; !slices.Equal(rendering.Lookups, want) {
		t.Errorf("the chart reads %q, want %q", rendering.Lookups, want)
	}
	if password, _, _ := unstructured.NestedString(rendering.Objects[0].Content.Object, "data", "password"); password != "b2xk" {
		t.Errorf("the password is %q", password)
	}
}

func names(objects []Object) []string {
	var found []string
	for _, object := range objects {
		found = append(found, object.String())
	}
	return found
}

func TestValuesThatTheSchemaRefuses(t *testing.T) {
	chart := chartOf(t, map[string]string{
		"values.yaml": "replicas: 2\n", "templates/deployment.yaml": deployment,
		"values.schema.json": `{"properties":{"replicas":{"type":"integer"}}}`,
	})
	if _, err := Render(t.Context(), chart, map[string]any{"replicas": "many"}, Release{"shop", "app"}, target, true); err == nil || !strings.Contains(err.Error(), "replicas") {
		t.Errorf("Render() = %v", err)
	}
}

func TestAChartForAnotherKubernetes(t *testing.T) {
	chart := chartOf(t, map[string]string{"Chart.yaml": chartYAML + "kubeVersion: \"<1.36.0\"\n"})
	if _, err := Render(t.Context(), chart, nil, Release{"shop", "app"}, target, true); err == nil || !strings.Contains(err.Error(), "it requires Kubernetes <1.36.0, not v1.36.3") {
		t.Errorf("Render() = %v", err)
	}
}

func TestRenderKeepsValues(t *testing.T) {
	chart := chartOf(t, map[string]string{"values.yaml": "a: {b: 1, c: 2}\n", "templates/deployment.yaml": deployment})
	values := map[string]any{"replicas": 1, "a": map[string]any{"b": nil}}
	_, err := Render(t.Context(), chart, values, Release{"shop", "app"}, target, true)
	must(t, err)
	if want := map[string]any{"replicas": 1, "a": map[string]any{"b": nil}}; !reflect.DeepEqual(values, want) {
		t.Errorf("the values are %v, want %v", values, want)
	}
}

func TestDifferences(t *testing.T) {
	chart := chartOf(t, map[string]string{
		"values.yaml": "replicas: 2\n", "templates/deployment.yaml": deployment,
		"templates/random.yaml": `apiVersion: v1
kind: Secret
metadata: {name: password}
data: {a: {{ randAlphaNum 20 | b64enc }}, b: {{ randAlphaNum 20 | b64enc }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, annotations: {example.test/checksum: {{ randAlphaNum 20 | quote }}}}
data: {fixed: "1"}
`,
	})
	render := func() Rendering {
		rendering, err := Render(t.Context(), chart, nil, Release{"shop", "app"}, target, true)
		must(t, err)
		return rendering
	}
	a, b := render(), render()
	want := []Difference{
		{Ref{Kind: "ConfigMap", Name: "settings"}, "/metadata/annotations/example.test~1checksum"},
		{Ref{Kind: "Secret", Name: "password"}, "/data"},
	}
	if got := Differences(a, b); !slices.Equal(got, want) {
		t.Errorf("Differences() = %v, want %v", got, want)
	}
	b.Objects = b.Objects[:2]
	if got := Differences(a, b); !slices.Contains(got, Difference{Object: Ref{Group: "apps", Kind: "Deployment", Name: "app"}}) {
		t.Errorf("an object is missing: Differences() = %v", got)
	}
	if got := Differences(a, a); len(got) != 0 {
		t.Errorf("Differences() of one rendering = %v", got)
	}
}
