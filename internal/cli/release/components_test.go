package release

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
	"github.com/refit-dev/refit/internal/engine/artifact/create"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

const appTemplate = `apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  template:
    spec:
      containers: [{name: app, image: "example.com/app:{{ .Values.tag }}", args: ["{{ .Values.limit }}"]}]
`

// publish writes charts and a file with components, and returns its path.
func publish(t *testing.T, text string, change func(files map[string]string)) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"components.yaml":       text,
		"app/Chart.yaml":        "apiVersion: v2\nname: app\nversion: 2.0.0\n",
		"app/values.yaml":       "tag: v2\nlimit: 1\n",
		"app/templates/app.yml": appTemplate,
	}
	if change != nil {
		change(files)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		write(t, path, content)
	}
	return filepath.Join(dir, "components.yaml")
}

const oneComponent = `
components:
- name: app
  chart: app
  release: {namespace: app, name: app}
  fits: [{kubernetes: ">=1.35 <1.37"}]
  values: {limit: 1000000}
  userMay: ["**"]
`

// withComponents is the content of a ClusterRelease with a component, before it is signed.
func withComponents(t *testing.T, change func(*unsigned)) []byte {
	t.Helper()
	add, err := pack(t.Context(), publish(t, oneComponent, nil), "v1.36.3", nil)
	if err != nil {
		t.Fatal(err)
	}
	content := unsigned{Components: add.components, Charts: add.charts}
	if err := json.Unmarshal(payload(t, nil), &content.ReleasePayload); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&content)
	}
	raw, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestComponentsArePackedAndRendered(t *testing.T) {
	file := publish(t, oneComponent, nil)
	add, err := pack(t.Context(), file, "v1.36.3", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(add.components) != 1 || add.components[0].Version != "2.0.0" || len(add.images) != 1 || add.images[0].Name != "example.com/app:v2" ||
		add.images[0].By != "app 2.0.0" {
		t.Fatalf("%+v", add)
	}
	archive := add.charts[add.components[0].Chart.Digest]
	if charts.Identify(archive) != add.components[0].Chart {
		t.Errorf("%+v", add.components[0].Chart)
	}
	// An archive is taken as it is.
	write(t, filepath.Join(filepath.Dir(file), "app.tgz"), string(archive))
	write(t, file, strings.Replace(oneComponent, "chart: app", "chart: app.tgz", 1))
	again, err := pack(t.Context(), file, "v1.36.3", nil)
	if err != nil || again.components[0].Chart != add.components[0].Chart {
		t.Errorf("%+v, %v", again, err)
	}
}

// A large integer must reach the template as an integer, also after it was signed.
func TestValuesAreRenderedAsThePublisherWroteThem(t *testing.T) {
	content, err := parseContent(withComponents(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	c := content.components.Components[0]
	chart, err := helm.Load(content.charts[c.Chart.Digest])
	if err != nil {
		t.Fatal(err)
	}
	rendering, err := helm.Render(t.Context(), chart, component.Merge(c.Values, nil), helm.Release{Namespace: "app", Name: "app"},
		helm.Capabilities{Kubernetes: "v1.36.3"}, true)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(rendering.Objects[0].Content.Object)
	if err != nil || !bytes.Contains(text, []byte(`"1000000"`)) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestComponentsThatAreNotPacked(t *testing.T) {
	for situation, c := range map[string]struct {
		text   string
		change func(files map[string]string)
		want   string
	}{
		"no components":        {"components: []", nil, "it has no components"},
		"not YAML":             {"{", nil, "cannot read the components in"},
		"unknown field":        {strings.Replace(oneComponent, "userMay:", "userCan:", 1), nil, `unknown field "userCan"`},
		"duplicate field":      {oneComponent + "  name: other\n", nil, `"name" already set`},
		"chart with a digest":  {strings.Replace(oneComponent, "chart: app", "chart: {digest: x}", 1), nil, "chart"},
		"no chart":             {strings.Replace(oneComponent, "  chart: app\n", "", 1), nil, "components[0] (app): chart is missing"},
		"chart that is gone":   {strings.Replace(oneComponent, "chart: app", "chart: gone.tgz", 1), nil, "gone.tgz"},
		"file that is huge":    {oneComponent + "# " + strings.Repeat("x", maxComponentsFile), nil, "more than 1048576 bytes"},
		"another version":      {strings.Replace(oneComponent, "chart: app", "chart: app\n  version: 1.9.0", 1), nil, "version is 1.9.0, but the chart has 2.0.0"},
		"another Kubernetes":   {strings.Replace(oneComponent, "<1.37", "<1.36", 1), nil, "2.0.0 does not fit Kubernetes v1.36.3"},
		"invalid range":        {strings.Replace(oneComponent, "<1.37", "~1.37", 1), nil, "fits[0].kubernetes"},
		"invalid Helm release": {strings.Replace(oneComponent, "name: app}", "name: App}", 1), nil, "is not the name of a Helm release"},
		"chart for another Kubernetes": {oneComponent, func(files map[string]string) {
			files["app/Chart.yaml"] += "kubeVersion: '>=1.37.0'\n"
		}, "it requires Kubernetes >=1.37.0"},
		"dependency that is not vendored": {oneComponent, func(files map[string]string) {
			files["app/Chart.yaml"] += "dependencies: [{name: db, version: 1.0.0}]\n"
		}, "the dependency db of app is not in the archive"},
		"values that the schema refuses": {oneComponent, func(files map[string]string) {
			files["app/values.schema.json"] = `{"properties":{"limit":{"type":"string"}}}`
		}, "limit"},
		"image by digest only": {oneComponent, func(files map[string]string) {
			files["app/templates/app.yml"] = strings.Replace(appTemplate, ":{{ .Values.tag }}", "@"+digestOfABC, 1)
		}, "has a digest and no tag"},
		"recipe with an image that the chart lacks": {oneComponent + `  recipe:
  - wave: {name: all}
  - patch: {kind: Thing.example.com, path: /spec/image, value: "${image:other}"}
  - verify: {ready: All}
`, nil, "recipe[1]: the chart has no image other"},
		"image without a name": {oneComponent + "  images: [':v1']\n", nil, "is not the name of an image"},
		"check whose rule does not compile": {
			oneComponent + checks("kind: Thing.example.com", "rule: object.spec.size >"), nil, "components[0] (app): checks[0].rule: 1:19: Syntax error",
		},
		"check whose list rule is no condition": {
			oneComponent + checks("kind: Thing.example.com", "listRule: objects.size()"), nil, "components[0] (app): checks[0].listRule: its result is int",
		},
		"check that reads Secrets": {
			oneComponent + checks("kind: Secret", "rule: has(object.data.password)"), nil,
			"components[0] (app): checks[0].objects.kind: a check cannot read Secrets",
		},
		"check with an unknown field": {oneComponent + checks("kind: Thing.example.com, name: x", "rule: 'true'"), nil, `unknown field "name"`},
	} {
		t.Run(situation, func(t *testing.T) {
			if _, err := pack(t.Context(), publish(t, c.text, c.change), "v1.36.3", nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("pack() = %v, want %q in it", err, c.want)
			}
		})
	}
}

// checks is the field checks of a component, with one check.
func checks(objects, rule string) string {
	return "  checks:\n  - name: sizes\n    objects: {" + objects + "}\n    " + rule + "\n    message: the thing is too large\n    remedy: Make it smaller\n"
}

func TestImagesThatTheChartDoesNotName(t *testing.T) {
	const recipe = `  images: ["example.com/worker:2.0.0"]
  recipe:
  - wave: {name: all}
  - patch: {kind: Thing.example.com, path: /spec/image, value: "${image:worker}"}
  - verify: {ready: All}
`
	add, err := pack(t.Context(), publish(t, oneComponent+recipe, nil), "v1.36.3", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(add.images, func(n create.NeededImage) bool { return n.Name == "example.com/worker:2.0.0" }) {
		t.Errorf("the images are %v", add.images)
	}
}

func TestChecksAreSigned(t *testing.T) {
	text := oneComponent + checks("kind: Thing.example.com, selector: app.kubernetes.io/name=app", "rule: object.spec.size < 3")
	add, err := pack(t.Context(), publish(t, text, nil), "v1.36.3", nil)
	if err != nil {
		t.Fatal(err)
	}
	private, public := keyPair(t)
	signed, err := (&Signer{KeyFile: private}).Sign(t.Context(), "content.json", withComponents(t, func(c *unsigned) { c.Components = add.components }))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := signed.YAML()
	if err != nil {
		t.Fatal(err)
	}
	file, err := Read("x.yaml", raw)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ReadPublicKeys([]string{public})
	if err != nil {
		t.Fatal(err)
	}
	content, err := file.Verify(keys)
	if err != nil || len(content.Components) != 1 || !slices.Equal(content.Components[0].Checks, add.components[0].Checks) {
		t.Errorf("%+v, %v", content.Components, err)
	}
}

func TestChecksInTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../../docs/components.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n  checks:\n")
	text, _, _ = strings.Cut(text, "```")
	add, err := pack(t.Context(), publish(t, oneComponent+"  checks:\n"+text, nil), "v1.36.3", nil)
	if err != nil || len(add.components[0].Checks) != 2 {
		t.Errorf("%+v, %v", add, err)
	}
}

func TestTheRecipeInTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../../docs/components.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```yaml\n  recipe:\n")
	text, _, _ = strings.Cut(text, "```")
	add, err := pack(t.Context(), publish(t, oneComponent+"  recipe:\n"+text, nil), "v1.36.3", nil)
	if err != nil || len(add.components[0].Recipe) != 10 {
		t.Errorf("%+v, %v", add, err)
	}
}

func TestLimitsOfChartsAgree(t *testing.T) {
	if helm.MaxArchive != artifact.MaxChart {
		t.Errorf("a chart may have %d bytes in one place and %d in another", helm.MaxArchive, artifact.MaxChart)
	}
}

func TestSignedComponentsAndChartsAreVerified(t *testing.T) {
	private, public := keyPair(t)
	signed, err := (&Signer{KeyFile: private}).Sign(t.Context(), "content.json", withComponents(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	good, err := signed.YAML()
	if err != nil {
		t.Fatal(err)
	}
	another, err := (&Signer{KeyFile: private}).Sign(t.Context(), "content.json", payload(t, func(p *refitv1alpha1.ReleasePayload) { p.Pause, p.Images = "", nil }))
	if err != nil {
		t.Fatal(err)
	}
	other, _ := keyPair(t)
	foreign, err := (&Signer{KeyFile: other}).Sign(t.Context(), "content.json", withComponents(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	text := func(change func(s *Signed)) []byte {
		manifest := *signed.ReleaseManifest
		s := &Signed{&manifest, signed.Charts}
		change(s)
		raw, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for situation, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"as it was signed":        {good, ""},
		"ClusterRelease first":    {joined(good, true), ""},
		"without charts":          {text(func(s *Signed) { s.Charts = nil }), "the chart of app 2.0.0 is missing"},
		"another chart":           {text(func(s *Signed) { s.Charts = [][]byte{[]byte("another chart")} }), "the chart of app 2.0.0 is missing"},
		"a further chart":         {text(func(s *Signed) { s.Charts = append(s.Charts, []byte("another chart")) }), "a chart that no component refers to"},
		"charts, no components":   {text(func(s *Signed) { s.Spec.Components = nil }), "a chart that no component refers to"},
		"another ClusterRelease":  {text(func(s *Signed) { s.Spec.Envelope = another.Spec.Envelope }), "they belong to the ClusterRelease with the digest"},
		"components of a foe":     {text(func(s *Signed) { s.Spec.Components = foreign.Spec.Components }), "are not signed by a trusted key"},
		"a chart that is renamed": {bytes.Replace(good, []byte("name: refit-chart-"), []byte("name: refit-chart-x"), 1), "another one than its name promises"},
		"two ClusterReleases":     {append(append(bytes.Clone(good), "---\n"...), good...), "it holds 2 objects besides charts"},
	} {
		t.Run(situation, func(t *testing.T) {
			var content Opened
			file, err := Read("x.yaml", c.raw)
			if err == nil {
				keys, keyErr := ReadPublicKeys([]string{public})
				if keyErr != nil {
					t.Fatal(keyErr)
				}
				content, err = file.Verify(keys)
			}
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q in it", err, c.want)
			}
			if err == nil && (len(content.Components) != 1 || content.Components[0].Name != "app") {
				t.Errorf("%+v", content.Components)
			}
		})
	}
}

// joined returns documents in their opposite order.
func joined(stream []byte, reverse bool) []byte {
	parts := bytes.Split(stream, []byte("---\n"))
	if reverse {
		parts[0], parts[len(parts)-1] = parts[len(parts)-1], parts[0]
	}
	return bytes.Join(parts, []byte("---\n"))
}

// `kubectl get clusterrelease -o yaml` has no charts.
func TestComponentsOfAnObjectAreShownWithoutCharts(t *testing.T) {
	private, _ := keyPair(t)
	signed, err := (&Signer{KeyFile: private}).Sign(t.Context(), "content.json", withComponents(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	signed.Charts = nil
	raw, err := signed.YAML()
	if err != nil {
		t.Fatal(err)
	}
	file, err := Read("x.yaml", raw)
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := file.Show(); err != nil || len(shown.Components) != 1 || shown.Components[0].Version != "2.0.0" {
		t.Errorf("%+v, %v", shown, err)
	}
}

func TestContentWithComponentsThatIsNotSigned(t *testing.T) {
	private, _ := keyPair(t)
	for situation, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"chart is missing": {withComponents(t, func(c *unsigned) { c.Charts = nil }), "the chart of app 2.0.0 is missing"},
		"chart was changed": {withComponents(t, func(c *unsigned) {
			c.Charts = map[string][]byte{c.Components[0].Chart.Digest: []byte("another")}
		}), "is not the one that its digest names"},
		"chart of nothing":  {withComponents(t, func(c *unsigned) { c.Components = nil }), "a chart that no component refers to"},
		"invalid component": {withComponents(t, func(c *unsigned) { c.Components[0].Place = "Between" }), `place: "Between"`},
		"unknown field of a component": {
			bytes.Replace(withComponents(t, nil), []byte(`"userMay"`), []byte(`"script":"x","userMay"`), 1), `unknown field "script"`,
		},
		"unknown field": {bytes.Replace(withComponents(t, nil), []byte(`{"kubernetes"`), []byte(`{"script":"x","kubernetes"`), 1), `unknown field "script"`},
		"duplicate field": {
			bytes.Replace(withComponents(t, nil), []byte(`{"kubernetes"`), []byte(`{"kubernetes":"v1.36.2","kubernetes"`), 1), `duplicate field "kubernetes"`,
		},
		"data after it": {append(withComponents(t, nil), "{}"...), "data after"},
	} {
		t.Run(situation, func(t *testing.T) {
			if _, err := (&Signer{KeyFile: private}).Sign(t.Context(), "content.json", c.raw); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Sign() = %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestChartsAreAddedBeforeTheRelease(t *testing.T) {
	private, public := keyPair(t)
	objects := fake.NewClientBuilder().Build()
	c := &target{pinned: []string{public}, objects: objects}
	a := addition(t, private)
	log := &bytes.Buffer{}
	a.Log, a.Confirm = log, func(context.Context, string) error { return nil }
	content := withComponents(t, nil)
	a.Content = func(context.Context, io.Writer) ([]byte, error) { return content, nil }
	if _, err := a.Add(t.Context(), "prod", c, c); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "app   2.0.0  app/app") && !strings.Contains(log.String(), "app  2.0.0  app/app") {
		t.Errorf("the components are not shown: %s", log)
	}
	keys, err := ReadPublicKeys([]string{public})
	if err != nil {
		t.Fatal(err)
	}
	spec := c.releases["kubernetes-v1.36.3"].Spec
	release, err := artifact.Verify(spec.Envelope, keys)
	if err != nil {
		t.Fatal(err)
	}
	components, err := artifact.VerifyComponents(spec.Components, release.Digest, keys)
	if err != nil {
		t.Fatal(err)
	}
	chart := components.List[0].Chart
	if _, err := charts.Get(t.Context(), objects, chart); err != nil {
		t.Error(err)
	}
	// A chart that somebody deleted is added again.
	stored := &corev1.ConfigMap{}
	stored.Namespace, stored.Name = charts.Namespace, charts.Name(chart.Digest)
	if err := objects.Delete(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	again, err := a.Add(t.Context(), "prod", c, c)
	if err != nil || !again.Existed || c.created != 1 {
		t.Errorf("the second time: %+v, %v; created %d", again, err, c.created)
	}
	if _, err := charts.Get(t.Context(), objects, chart); err != nil {
		t.Error(err)
	}
	// Other components are other content.
	content = withComponents(t, func(c *unsigned) { c.Components[0].Place = refitv1alpha1.PlaceBefore })
	if _, err := a.Add(t.Context(), "prod", c, c); err == nil || !strings.Contains(err.Error(), "with other content") {
		t.Errorf("Add() = %v", err)
	}
	content = payload(t, nil)
	if _, err := a.Add(t.Context(), "prod", c, c); err == nil || !strings.Contains(err.Error(), "with other content") {
		t.Errorf("Add() without components = %v", err)
	}
}

func TestReleaseIsNotAddedWithoutItsCharts(t *testing.T) {
	private, public := keyPair(t)
	squatted := &corev1.ConfigMap{}
	content := withComponents(t, func(c *unsigned) {
		squatted.Namespace, squatted.Name = charts.Namespace, charts.Name(c.Components[0].Chart.Digest)
	})
	c := &target{pinned: []string{public}, objects: fake.NewClientBuilder().WithObjects(squatted).Build()}
	a := addition(t, private)
	a.Content = func(context.Context, io.Writer) ([]byte, error) { return content, nil }
	if _, err := a.Add(t.Context(), "prod", c, c); err == nil || !strings.Contains(err.Error(), "other content") || c.created > 0 {
		t.Errorf("Add() = %v; created %d", err, c.created)
	}
}

func TestChartsInARegistry(t *testing.T) {
	p := newPublisher(t)
	signed, err := (&Signer{KeyFile: p.private}).Sign(t.Context(), "content.json", withComponents(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := signed.YAML()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "v1.36.3.yaml")
	write(t, file, string(raw))
	log := &bytes.Buffer{}
	registry := &Registry{KeyFiles: []string{p.public}, Log: log}
	address := "oci://" + p.host + "/refit/releases:v1.36.3"
	if _, err := registry.Push(t.Context(), file, os.ReadFile, address); err != nil {
		t.Fatal(err)
	}
	got, err := registry.Pull(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, raw) || !strings.Contains(log.String(), "with 1 chart") {
		t.Errorf("pulled %d bytes, pushed %d; %s", len(got), len(raw), log)
	}
	signed.Charts = nil
	if raw, err = signed.YAML(); err != nil {
		t.Fatal(err)
	}
	write(t, file, string(raw))
	if _, err := registry.Push(t.Context(), file, os.ReadFile, address+"-b"); err == nil || !strings.Contains(err.Error(), "the chart of app 2.0.0 is missing") {
		t.Errorf("Push() without charts = %v", err)
	}
}

func TestReleaseWithComponentsIsCreated(t *testing.T) {
	dir := t.TempDir()
	file := publish(t, oneComponent, nil)
	c := &Creation{ComponentsFile: file}
	c.Kubernetes, c.Folders = "v1.36.3", []string{dir}
	// There are no files of Kubernetes. Components are read first.
	if _, err := c.Create(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "no kubeadm") || len(c.Images) != 1 {
		t.Errorf("Create() = %v; images %v", err, c.Images)
	}
	c.ComponentsFile = filepath.Join(dir, "gone.yaml")
	if _, err := c.Create(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "gone.yaml") {
		t.Errorf("Create() = %v", err)
	}
}
