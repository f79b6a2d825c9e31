package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

// recordedRelease is what `refit release create` printed for the files that the testbed builds.
const recordedRelease = "testdata/release-v1.36.3.json"

// docs/releases.md shows these screens.
func TestScreensOfReleases(t *testing.T) {
	dir := t.TempDir()
	key, signed := filepath.Join(dir, "keys", "refit-release"), filepath.Join(dir, "v1.36.3.yaml")
	for _, screen := range []struct {
		name string
		args []string
	}{
		{"key", []string{"key", "create", "--out", filepath.Join(dir, "keys")}},
		{"sign", []string{"sign", recordedRelease, "--key", key + ".key"}},
		{"verify", []string{"verify", signed, "--key", key + ".pem"}},
	} {
		l := newLine(t)
		if code := l.run(t, append([]string{"release"}, screen.args...)...); code != 0 {
			t.Fatalf("%s: exit code %d: %s", screen.name, code, l.err)
		}
		if screen.name == "sign" {
			if err := os.WriteFile(signed, l.out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		golden(t, "screen-release-"+screen.name+".golden", []byte(withoutKey(strings.ReplaceAll(l.out.String(), dir+"/", ""))))
	}
}

func TestScreenOfACreatedRelease(t *testing.T) {
	raw, err := os.ReadFile(recordedRelease)
	if err != nil {
		t.Fatal(err)
	}
	var payload refitv1alpha1.ReleasePayload
	if err := json.Unmarshal(raw, &payload); err != nil {
		t.Fatal(err)
	}
	golden(t, "screen-release-create.golden", []byte(text.ReleaseMade(&text.MadeRelease{Payload: payload})))
}

var (
	fingerprint = regexp.MustCompile(`SHA256:[A-Za-z0-9+/]{43}`)
	envelope    = regexp.MustCompile(`((?:envelope|components|chart.tgz): .{90}).*`)
)

// withoutKey replaces what differs with every key.
func withoutKey(screen string) string {
	return envelope.ReplaceAllString(fingerprint.ReplaceAllString(screen, "SHA256:50TAeRMgwyhUYO3bUj8UyI2FetpGuXpWkNiM+Xi5GR8"), "$1…")
}

// recordedComponents is what `refit release create --components` printed for the files that the
// testbed builds, examples/components, and an image of a registry.
const recordedComponents = "testdata/release-components-v1.36.3.json"

// docs/components.md shows these screens.
func TestScreensOfComponents(t *testing.T) {
	dir := t.TempDir()
	key, signed := filepath.Join(dir, "refit-release"), filepath.Join(dir, "v1.36.3.yaml")
	for _, screen := range []struct {
		name string
		args []string
	}{
		{"", []string{"key", "create", "--out", dir}},
		{"components-sign", []string{"sign", recordedComponents, "--key", key + ".key"}},
		{"components-verify", []string{"verify", signed, "--key", key + ".pem"}},
	} {
		l := newLine(t)
		if code := l.run(t, append([]string{"release"}, screen.args...)...); code != 0 {
			t.Fatalf("%s: exit code %d: %s", screen.name, code, l.err)
		}
		if screen.name == "components-sign" {
			if err := os.WriteFile(signed, l.out.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if screen.name != "" {
			golden(t, "screen-release-"+screen.name+".golden", []byte(withoutKey(l.out.String())))
		}
	}
}

// The example is what was recorded.
func TestExampleOfComponents(t *testing.T) {
	var example struct {
		Components []refitv1alpha1.ReleaseComponent
	}
	raw, err := os.ReadFile(examples + "/components/components.yaml")
	if err != nil {
		t.Fatal(err)
	}
	raw = regexp.MustCompile(`(?m)^  chart: .*\n`).ReplaceAll(raw, nil)
	if err := yaml.UnmarshalStrict(raw, &example); err != nil {
		t.Fatal(err)
	}
	recorded, err := os.ReadFile(recordedComponents)
	if err != nil {
		t.Fatal(err)
	}
	var content struct {
		Components []refitv1alpha1.ReleaseComponent
	}
	if err := json.Unmarshal(recorded, &content); err != nil {
		t.Fatal(err)
	}
	for i := range content.Components { // the chart has them
		content.Components[i].Chart, content.Components[i].Version = refitv1alpha1.ComponentChart{}, ""
	}
	if !reflect.DeepEqual(example.Components, content.Components) {
		t.Errorf("%+v, recorded %+v", example.Components, content.Components)
	}
}
