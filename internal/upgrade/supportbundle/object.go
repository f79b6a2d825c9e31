package supportbundle

import (
	"maps"

	"github.com/refit-dev/refit/internal/upgrade/redact"
)

// ruleValues counts the values of Components. A chart may name a secret as it likes.
const ruleValues = "component-values"

const hiddenValues = "[redacted:" + ruleValues + "]"

// Object returns an object as a bundle has it: without secrets, the values of a Component, and
// managedFields.
func Object(r *redact.Redactor, object map[string]any) (map[string]any, redact.Counts) {
	hidden := redact.Counts{}
	object = maps.Clone(object)
	if metadata, ok := object["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "managedFields")
		object["metadata"] = metadata
	}
	if spec, ok := object["spec"].(map[string]any); ok && object["kind"] == "Component" && spec["values"] != nil {
		spec = maps.Clone(spec)
		spec["values"] = hiddenValues
		object["spec"] = spec
		hidden[ruleValues]++
	}
	out, counts := r.Object(object)
	counts.Add(hidden)
	return out, counts
}
