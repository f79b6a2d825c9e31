package document

import (
	"bytes"
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/plaintext"
)

// JSON returns the indented JSON of a document, with a newline at its end.
func JSON(document any) ([]byte, error) { return encode(document, "  ") }

// Line returns the JSON of a document in one line, with a newline at its end.
func Line(document any) ([]byte, error) { return encode(document, "") }

func encode(document any, indent string) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false) // people read it too, and "->" and "<none>" are common in messages
	encoder.SetIndent("", indent)
	if err := encoder.Encode(document); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return plaintext.EscapeJSON(buffer.Bytes()), nil
}

// YAML returns the YAML of a document, with its fields sorted by name as kubectl does.
func YAML(document any) ([]byte, error) {
	text, err := JSON(document)
	if err != nil {
		return nil, err
	}
	out, err := yaml.JSONToYAML(text)
	if err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	if bytes.ContainsFunc(out, plaintext.Unprintable) { // the encoder does not quote bidirectional control characters
		return text, nil // JSON is YAML too
	}
	return out, nil
}
