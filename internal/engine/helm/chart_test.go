package helm

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"testing"
)

func TestChartsThatAreRefused(t *testing.T) {
	noise := make([]byte, MaxArchive)
	_, err := rand.Read(noise)
	must(t, err)
	half := string(packed(t, map[string]string{"Chart.yaml": chartYAML, "zeros": strings.Repeat("\x00", maxUnpacked/2)}))
	for situation, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a dependency is missing": {map[string]string{"Chart.yaml": chartYAML + "dependencies: [{name: db, version: 1.0.0}]\n"}, "the dependency db of app is not in the archive"},
		"it is a library":         {map[string]string{"Chart.yaml": chartYAML + "type: library\n"}, "a library chart has no objects"},
		"the schema is remote": {
			map[string]string{"Chart.yaml": chartYAML, "values.schema.json": `{"properties":{"a":{"$ref":"https://example.test/a.json"}}}`},
			"refers to another document: https://example.test/a.json",
		},
		"the schema has a remote metaschema": {
			map[string]string{"Chart.yaml": chartYAML, "values.schema.json": `{"$schema":"https://example.test/meta.json"}`},
			"refers to another document: https://example.test/meta.json",
		},
		"the schema has a relative reference": {
			map[string]string{"Chart.yaml": chartYAML, "values.schema.json": `{"$id":"https://example.test/a.json","properties":{"a":{"$ref":"b.json"}}}`},
			"refers to another document: https://example.test/b.json",
		},
		"the schema refers to a file": {
			map[string]string{"Chart.yaml": chartYAML, "values.schema.json": `{"properties":{"a":{"$ref":"etc/a.json"}}}`},
			"refers to another document: file:///etc/a.json",
		},
		"dependencies expand to too much": {
			map[string]string{"Chart.yaml": chartYAML, "charts/a.tgz": half, "charts/b.tgz": half, "charts/c.tgz": half}, "it expands to more than",
		},
		"dependencies are nested": {map[string]string{"Chart.yaml": chartYAML, "charts/a.tgz": nested(t, 9)}, "nested too deeply"},
		"it is too large":         {map[string]string{"Chart.yaml": chartYAML, "noise": hex.EncodeToString(noise)}, "at most 921600 are allowed"},
		"it expands to too much":  {map[string]string{"Chart.yaml": chartYAML, "zeros": strings.Repeat("\x00", maxUnpacked)}, "it expands to more than"},
		"it has no Chart.yaml":    {map[string]string{"values.yaml": ""}, "Chart.yaml"},
	} {
		if _, err := Load(packed(t, c.files)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", situation, err)
		}
	}
	if _, err := Load([]byte("text")); err == nil {
		t.Error("text is not refused")
	}
}

func TestALocalSchemaIsAccepted(t *testing.T) {
	chartOf(t, map[string]string{"values.schema.json": `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{}},"properties":{"a":{"$ref":"#/definitions/a"},"b":{"$ref":"urn:example:b"}}}`})
}

// nested packs a chart into another one, and so on.
func nested(t *testing.T, depth int) string {
	t.Helper()
	files := map[string]string{"Chart.yaml": chartYAML}
	if depth > 1 {
		files["charts/app.tgz"] = nested(t, depth-1)
	}
	return string(packed(t, files))
}
