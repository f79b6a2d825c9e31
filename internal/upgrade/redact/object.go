package redact

import (
	"maps"
	"slices"
	"strings"
)

// Object returns a copy of decoded JSON without its secrets.
func (r *Redactor) Object(object map[string]any) (map[string]any, Counts) {
	o := objectRedactor{Redactor: r, counts: Counts{}}
	return o.fields(object), o.counts
}

type objectRedactor struct {
	*Redactor
	counts Counts
}

func (o *objectRedactor) hide(rule string) string {
	o.counts[rule]++
	return replacement(rule)
}

func (o *objectRedactor) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return o.fields(v)
	case []any:
		return o.list(v)
	case string:
		text, counts := o.Text(v)
		o.counts.Add(counts)
		return text
	}
	return v
}

// fields handles the fields of an object in order, so that the counts are the same each time.
func (o *objectRedactor) fields(in map[string]any) map[string]any {
	out := make(map[string]any, len(in))
	kind, _ := in["kind"].(string)
	variable, _ := in["name"].(string)
	for _, name := range slices.Sorted(maps.Keys(in)) {
		value := in[name]
		_, object := value.(map[string]any)
		text, isText := value.(string)
		harmless := isText && (harmlessValue(text) || redacted(text))
		switch {
		case (name == "stringData" || name == "data" && kind == "Secret") && object && o.has(ruleSecretData):
			out[name] = o.hide(ruleSecretData)
		case name == lastApplied && o.has(ruleLastApplied):
			out[name] = o.hide(ruleLastApplied)
		case name == "value" && isText && !harmless && variable != "" && secretVariable(variable) && o.has(ruleEnv):
			out[name] = o.hide(ruleEnv)
		case isText && !harmless && secretName(name) && o.has(ruleNamed):
			out[name] = o.hide(ruleNamed)
		case secretName(name) && texts(value) && o.has(ruleNamed):
			out[name] = []any{o.hide(ruleNamed)}
		default:
			key, _ := o.value(name).(string)
			out[key] = o.value(value)
		}
	}
	return out
}

// list handles a list, which may be the arguments of a command.
func (o *objectRedactor) list(in []any) []any {
	out := make([]any, len(in))
	secret := false
	for i, v := range in {
		text, isText := v.(string)
		if secret && isText && !isFlag(text) && o.has(ruleFlag) {
			out[i], secret = o.hide(ruleFlag), false
			continue
		}
		name := strings.TrimLeft(text, "-")
		secret = isText && isFlag(text) && !strings.Contains(text, "=") && secretName(name)
		out[i] = o.value(v)
	}
	return out
}

// texts is true for a list of strings that is not empty.
func texts(value any) bool {
	list, ok := value.([]any)
	return ok && len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool { _, text := v.(string); return !text })
}
