package helm

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func writeChart(t *testing.T, files map[string]string) (directory string) {
	t.Helper()
	directory = filepath.Join(t.TempDir(), "any-name")
	for name, text := range files {
		path := filepath.Join(directory, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o750))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return directory
}

func TestPackedChartDoesNotDependOnTimesAndNames(t *testing.T) {
	files := map[string]string{
		"Chart.yaml": chartYAML, "values.yaml": "a: 1\n", "templates/a.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n",
		"crds/b.yaml": "", ".helmignore": "*.bak\n", "notes.bak": "ignored",
	}
	first, second := writeChart(t, files), writeChart(t, files)
	must(t, os.Chtimes(filepath.Join(second, "values.yaml"), time.Unix(1, 0), time.Unix(1, 0)))
	must(t, os.Chmod(filepath.Join(second, "Chart.yaml"), 0o640))
	must(t, os.Remove(filepath.Join(second, "notes.bak")))
	one, err := Pack(first)
	must(t, err)
	two, err := Pack(second)
	must(t, err)
	if !bytes.Equal(one, two) {
		t.Error("equal files are packed differently")
	}
	chart, err := Load(one)
	must(t, err)
	if chart.Name != "app" || chart.Version != "1.0.0" {
		t.Errorf("%+v", chart)
	}
}

func TestDirectoryWithoutAChartIsNotPacked(t *testing.T) {
	for _, directory := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing")} {
		if _, err := Pack(directory); err == nil {
			t.Errorf("%s was packed", directory)
		}
	}
}

func TestRenderingWithoutACluster(t *testing.T) {
	chart := chartOf(t, map[string]string{
		"templates/a.yaml": `{{ if .Capabilities.APIVersions.Has "policy/v1" }}
kind: ConfigMap
apiVersion: v1
metadata: {name: "{{ .Capabilities.KubeVersion }}"}
{{ end }}`,
	})
	rendering, err := Render(t.Context(), chart, nil, Release{"default", "app"}, Capabilities{Kubernetes: "v1.36.3"}, false)
	must(t, err)
	if !slices.ContainsFunc(rendering.Objects, func(o Object) bool { return o.Name == "v1.36.3" }) {
		t.Errorf("%+v", rendering.Objects)
	}
}
