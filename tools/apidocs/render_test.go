package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const exampleCRD = `
spec:
  names: {kind: Widget, shortNames: [w]}
  versions:
  - additionalPrinterColumns:
    - {name: Color, type: string}
    - {name: Hidden, type: string, priority: 1}
    schema:
      openAPIV3Schema:
        description: Widget is an example.
        x-kubernetes-validations:
        - {rule: "true", message: a widget stays}
        properties:
          spec:
            description: Spec is wanted.
            required: [color]
            properties:
              color: {type: string, enum: [Red, Blue], default: Red, description: "Color is one of two.\nRed: like fire.\nBlue: like the\nsea."}
              name: {type: string, minLength: 1, maxLength: 9, pattern: "^a|b$", description: Name is its name.}
              parts:
                type: array
                maxItems: 3
                description: Parts are its parts.
                items:
                  type: object
                  x-kubernetes-validations:
                  - {rule: "true", message: a part is small}
                  properties:
                    size: {type: integer, minimum: 1, maximum: 5, default: 2, description: Size is its size.}
              tags: {type: object, maxProperties: 4, additionalProperties: {type: string, maxLength: 7}, description: Tags are tags.}
`

const exampleGo = `package v1

// Color is a color.
type Color string

// The colors.
const (
	ColorRed  Color = "Red" // like fire
	ColorBlue Color = "Blue"
)

// The conditions.
const (
	// ConditionReady is True when it is ready.
	ConditionReady = "Ready"
	// ReasonBroken: a part is broken.
	ReasonBroken = "Broken"
)

// Numbers are not string constants.
const (
	One = 1
)
`

func TestReference(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{"crd/widgets.yaml": exampleCRD, "api/types.go": exampleGo, "api/types_test.go": "no Go at all"} {
		path := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(dir, "api.md")
	var texts []string
	for range 2 {
		if err := run(filepath.Join(dir, "crd"), filepath.Join(dir, "api"), to); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		t.Error("the output is not reproducible")
	}
	for _, line := range []string{
		"| [Widget](#widget) | `w` | Color |",
		"| `color` | one of `Red`, `Blue`, required | `Red` | Color is one of two.<br>Red: like fire.<br>Blue: like the sea. |",
		"| `name` | text of 1 to 9, `^a\\|b$` |  | Name is its name. |",
		"| `parts` | list of at most 3 |  | Parts are its parts. |",
		"| `parts[].size` | number, 1 to 5 | `2` | Size is its size. |",
		"| `tags` | map of at most 4: text of at most 7 |  | Tags are tags. |",
		"- a widget stays",
		"- `spec.parts[]`: a part is small",
		"### Color",
		"| `Red` | like fire |",
		"| `Ready` | True when it is ready. |",
		"| `Broken` | a part is broken. |",
	} {
		if !strings.Contains(texts[0], "\n"+line+"\n") {
			t.Errorf("no line %q in\n%s", line, texts[0])
		}
	}
}

func TestDirectoryWithoutCRDs(t *testing.T) {
	if err := run(t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "api.md")); err == nil {
		t.Error("want an error")
	}
}
