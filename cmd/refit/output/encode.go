package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode"

	"sigs.k8s.io/yaml"
)

// JSON returns the indented JSON of a document, with a newline at its end.
func JSON(document any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false) // people read it too, and "->" and "<none>" are common in messages
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return escape(buffer.Bytes()), nil
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
	if bytes.ContainsFunc(out, unseen) { // the encoder quotes control characters, but not those that turn text around
		return text, nil // JSON is YAML too
	}
	return out, nil
}

// escape writes what is unseen as \u escapes. encoding/json does so with control characters below U+0020 only. What is outside a string is ASCII.
func escape(text []byte) []byte {
	if !bytes.ContainsFunc(text, unseen) {
		return text
	}
	var out bytes.Buffer
	for _, r := range string(text) {
		if unseen(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.Bytes()
}

// unseen says whether a terminal may obey a character instead of showing it, or turn the direction of text around. All such are below U+10000.
func unseen(r rune) bool { return r != '\n' && r <= 0xffff && !unicode.IsPrint(r) }
