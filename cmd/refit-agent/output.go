package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/plaintext"
)

// The values of --output.
const (
	outputText = "text"
	outputJSON = "json"
	outputYAML = "yaml"
)

func parseOutput(format string, follow bool) (string, error) {
	switch format {
	case outputText, outputJSON:
		return format, nil
	case outputYAML:
		if follow {
			return "", usagef("--follow prints text or JSON, not %q", format)
		}
		return format, nil
	}
	return "", usagef("--output must be text, json or yaml, not %q", format)
}

// writeDocument writes a document as JSON or YAML.
func writeDocument(to io.Writer, document any, format string) error {
	text, err := encode(document, "  ")
	if err != nil {
		return err
	}
	if format == outputYAML {
		converted, err := yaml.JSONToYAML(text)
		if err != nil {
			return fmt.Errorf("cannot write YAML: %w", err)
		}
		// The encoder does not quote bidirectional control characters. JSON is YAML too.
		if !bytes.ContainsFunc(converted, plaintext.Unprintable) {
			text = converted
		}
	}
	_, err = to.Write(text)
	return err
}

// encode returns JSON in which nothing can act on a terminal.
func encode(document any, indent string) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false) // people read it, too
	encoder.SetIndent("", indent)
	if err := encoder.Encode(document); err != nil {
		return nil, fmt.Errorf("cannot write JSON: %w", err)
	}
	return plaintext.EscapeJSON(buffer.Bytes()), nil
}

// plainRune reports whether a character belongs into one line of text.
func plainRune(r rune) bool { return r != '\n' && !plaintext.Unprintable(r) }
