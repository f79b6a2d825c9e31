package main

import (
	"strings"
	"testing"
)

func TestTableOfValues(t *testing.T) {
	const schema = `{"properties":{"global":{},"a":{"type":"array"},"m":{"type":"object","properties":{"x":{"$ref":"#/definitions/d"}}}},"definitions":{"d":{"type":"string"}}}`
	for situation, c := range map[string]struct{ values, want, err string }{
		"all described":            {"# A list,\n# or | none.\na: [1]\nm:\n  # A text.\n  x: \"\"\n", "| `a` | array | `[1]` | A list, or \\| none. |\n| `m.x` | string | `\"\"` | A text. |\n", ""},
		"no comment":               {"a: []\nm:\n  # A text.\n  x: \"\"\n", "", "the value a has no type in the schema or no comment"},
		"a value without a schema": {"# B.\nb: 1\n", "", "the schema has no value b"},
		"a value is missing":       {"# A.\na: []\nm: {}\n", "", "the values have no m.x"},
		"not a map":                {"[]\n", "", "are not a map"},
	} {
		got, err := valuesTable([]byte(c.values), []byte(schema))
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %q, %v", situation, got, err)
		}
	}
}
