package offer

import (
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

// requiring is a form with two required items of the component app, the second under a condition,
// and one of another component.
func requiring() *refitv1alpha1.ComponentForm {
	sets := func(component, path string) []refitv1alpha1.FormTarget {
		return []refitv1alpha1.FormTarget{{Component: component, Path: path}}
	}
	return &refitv1alpha1.ComponentForm{Groups: []refitv1alpha1.FormGroup{{Name: "access", Title: "Access", Items: []refitv1alpha1.FormItem{
		{Name: "tls", Title: "Use HTTPS", Type: refitv1alpha1.FormSwitch, Sets: sets("app", "tls.enabled")},
		{Name: "host", Title: "Host name", Type: refitv1alpha1.FormText, Required: true, Sets: sets("app", "ingress.host")},
		{Name: "key", Title: "Key", Type: refitv1alpha1.FormPassword, Required: true, When: "values.tls", Sets: sets("app", "tls.key")},
		{Name: "size", Title: "Size", Type: refitv1alpha1.FormText, Required: true, Sets: sets("other", "size")},
	}}}}
}

func TestRequiredItemsWithoutValues(t *testing.T) {
	host := map[string]any{"host": "a.test"}
	for _, c := range []struct {
		name   string
		stored form.Stored
		values map[string]any
		want   string
	}{
		{"nobody has filled it in", form.Stored{}, nil, "Host name (ingress.host)"},
		{"the answers of the form", form.Stored{Answers: form.Answers{"host": "a.test"}}, map[string]any{"ingress": host}, ""},
		{"values without the form", form.Stored{}, map[string]any{"ingress": host}, ""},
		{"an empty value", form.Stored{}, map[string]any{"ingress": map[string]any{"host": ""}}, "Host name (ingress.host)"},
		{"a value of another shape", form.Stored{}, map[string]any{"ingress": "a.test"}, "Host name (ingress.host)"},
		{"answers that are not the values", form.Stored{Answers: form.Answers{"host": "a.test"}}, nil, "Host name (ingress.host)"},
		{"a condition that holds", form.Stored{Answers: form.Answers{"tls": true}}, map[string]any{"ingress": host}, "Key (tls.key)"},
		{
			"a password",
			form.Stored{Answers: form.Answers{"tls": true}, Passwords: map[string]string{"key": "hunter2"}},
			map[string]any{"ingress": host, "tls": map[string]any{"enabled": true, "key": "hunter2"}},
			"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := FormProblems(t.Context(), "v1", requiring(), c.stored, "app", c.values)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if len(got) > 0 {
					t.Errorf("%+v", got)
				}
				return
			}
			if len(got) != 1 || got[0].Reason != "FormIncomplete" || got[0].Blocks || got[0].Remedy == "" || got[0].Object != "" ||
				!strings.HasSuffix(got[0].Message, "nobody has set: "+c.want) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestAFormThatCannotBeEvaluated does not keep components from being upgraded.
func TestAFormThatCannotBeEvaluated(t *testing.T) {
	f := requiring()
	f.Groups[0].When = "values.host != ''" // a later item
	got, err := FormProblems(t.Context(), "v1", f, form.Stored{}, "app", nil)
	if err != nil || len(got) != 1 || got[0].Blocks || !strings.Contains(got[0].Message, "cannot be evaluated") {
		t.Errorf("%+v %v", got, err)
	}
}
