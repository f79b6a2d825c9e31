package keep

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/refit-dev/refit/internal/upgrade/drift"
)

const hidden = "<redacted>"

// secretWords are parts of names whose values are not shown.
var secretWords = []string{"password", "passphrase", "secret"}

// redacted returns texts as they are shown: in the same format, and without secret values.
func redacted(texts ...string) ([]string, error) {
	var out []string
	for _, text := range texts {
		document, root, err := parse(text)
		if err != nil {
			return nil, err
		}
		redact(root, "")
		shown, err := encode(document)
		if err != nil {
			return nil, err
		}
		out = append(out, shown)
	}
	return out, nil
}

// redact hides secret values below a node that has a name.
func redact(at *yaml.Node, name string) {
	at.HeadComment, at.LineComment, at.FootComment = "", "", ""
	switch at.Kind {
	case yaml.ScalarNode:
		if isSecret(name, at.Value) {
			*at = *text(hidden)
		}
	case yaml.MappingNode:
		argument := textAt(at, "name") // an item of extraArgs or extraEnvs
		for i := 0; i+1 < len(at.Content); i += 2 {
			below := at.Content[i].Value
			if below == "value" && argument != "" {
				below = argument
			}
			if name == "extraEnvs" && at.Content[i].Value != "name" {
				at.Content[i+1] = text(hidden)
			}
			redact(at.Content[i], "")
			redact(at.Content[i+1], below)
		}
	case yaml.SequenceNode, yaml.DocumentNode:
		for _, item := range at.Content {
			redact(item, name)
		}
	case yaml.AliasNode: // its anchor is redacted
	}
}

// isSecret reports whether a value is not shown. Files with secrets are shown by their path.
func isSecret(name, value string) bool {
	if drift.IsSecret(value) {
		return true
	}
	if strings.HasPrefix(value, "/") || value == "true" || value == "false" {
		return false
	}
	for _, word := range secretWords {
		if strings.Contains(strings.ToLower(name), word) {
			return true
		}
	}
	return false
}
