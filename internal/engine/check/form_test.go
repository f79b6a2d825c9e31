package check

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

// storage is a form in which later items depend on earlier ones.
func storage() *refitv1alpha1.ComponentForm {
	return &refitv1alpha1.ComponentForm{Groups: []refitv1alpha1.FormGroup{
		{Name: "storage", Title: "Storage", Items: []refitv1alpha1.FormItem{
			{Name: "persistent", Title: "Keep data", Type: refitv1alpha1.FormSwitch},
			{Name: "size", Title: "Size", Type: refitv1alpha1.FormNumber, When: "values.persistent", Valid: "values.size >= 1 && values.size <= 100", Message: "must be between 1 and 100"},
			{Name: "storageClass", Title: "Class", Type: refitv1alpha1.FormText, When: "values.persistent", Valid: "!values.storageClass.contains(' ')", Message: "must not have spaces"},
		}},
		{Name: "large", Title: "Large", When: "values.size != null && values.size > 50", Items: []refitv1alpha1.FormItem{
			{Name: "quota", Title: "Quota", Type: refitv1alpha1.FormText, Default: "100Gi", Valid: "isQuantity(values.quota)", Message: "must be a quantity"},
		}},
	}}
}

func TestConditionsOfAForm(t *testing.T) {
	compiled, err := CompileForm(storage())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		answers  form.Answers
		items    string
		problems string
	}{
		{"nothing is filled in", nil, "[persistent]", "[]"},
		{"a condition shows items", form.Answers{"persistent": true}, "[persistent size storageClass]", "[]"},
		{"a condition shows a group", form.Answers{"persistent": true, "size": int64(51)}, "[persistent size storageClass quota]", "[]"},
		{"a hidden item has no answer", form.Answers{"size": int64(51)}, "[persistent]", "[]"},
		{"a fraction", form.Answers{"persistent": true, "size": 50.5}, "[persistent size storageClass quota]", "[]"},
		{"an answer that is not valid", form.Answers{"persistent": true, "size": int64(0)}, "[persistent size storageClass]", "[size must be between 1 and 100]"},
		{"a function of Kubernetes", form.Answers{"persistent": true, "size": int64(60), "quota": "many"}, "[persistent size storageClass quota]", "[quota must be a quantity]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := form.Evaluate(t.Context(), storage(), c.answers, compiled.Evaluation())
			if err != nil {
				t.Fatal(err)
			}
			problems := []string{}
			for _, p := range got.Problems {
				problems = append(problems, p.Item+" "+p.Detail)
			}
			if fmt.Sprint(got.Items) != c.items || fmt.Sprint(problems) != c.problems {
				t.Errorf("shows %v with %v", got.Items, problems)
			}
		})
	}
}

func TestConditionsThatAreRefused(t *testing.T) {
	for want, change := range map[string]func(*refitv1alpha1.ComponentForm){
		"groups[0].items[1].when: ":                       func(f *refitv1alpha1.ComponentForm) { f.Groups[0].Items[1].When = "values.quota == ''" },
		"groups[0].items[1].valid: 1:1: undeclared":       func(f *refitv1alpha1.ComponentForm) { f.Groups[0].Items[1].Valid = "object.x" },
		"groups[0].items[2].valid: its result is string":  func(f *refitv1alpha1.ComponentForm) { f.Groups[0].Items[2].Valid = "values.storageClass" },
		"groups[0].items[2].when: ":                       func(f *refitv1alpha1.ComponentForm) { f.Groups[0].Items[2].When = "values.persistent > 3" },
		"groups[1].when: its result is dyn":               func(f *refitv1alpha1.ComponentForm) { f.Groups[1].When = "values.size" },
		"groups[0].items[2].when: 1:1: undeclared":        func(f *refitv1alpha1.ComponentForm) { f.Groups[0].Items[2].When = "values.all(v, v != '')" },
		"item quota, before anything is filled in: it ha": func(f *refitv1alpha1.ComponentForm) { f.Groups[1].When = "values.size > 50" },
		"item quota, before anything is filled in: it mu": func(f *refitv1alpha1.ComponentForm) {
			f.Groups[1].When, f.Groups[1].Items[0].Default = "", "many"
		},
		"groups[0].items[2].valid: it has more than 4": func(f *refitv1alpha1.ComponentForm) {
			f.Groups[0].Items[2].Valid = "[1].all(a, [1].all(b, [1].all(c, [1].all(d, [1].all(e, true)))))"
		},
	} {
		f := storage()
		change(f)
		if err := VerifyForm(t.Context(), f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := VerifyForm(t.Context(), storage()); err != nil {
		t.Error(err)
	}
}

// TestErrorsOfConditionsHaveNoAnswer: CEL quotes values in its errors, and one may be a password.
func TestErrorsOfConditionsHaveNoAnswer(t *testing.T) {
	f := &refitv1alpha1.ComponentForm{Groups: []refitv1alpha1.FormGroup{{Name: "a", Title: "A", Items: []refitv1alpha1.FormItem{
		{Name: "password", Title: "P", Type: refitv1alpha1.FormPassword, Valid: "timestamp(values.password).getFullYear() > 2000", Message: "must be a time"},
	}}}}
	compiled, err := CompileForm(f)
	if err != nil {
		t.Fatal(err)
	}
	got, err := form.Evaluate(t.Context(), f, form.Answers{"password": "canary-secret"}, compiled.Evaluation())
	if err != nil || len(got.Problems) != 1 || got.Problems[0].Kind != form.Broken || strings.Contains(got.Problems[0].Detail, "canary") {
		t.Errorf("%v %+v", err, got)
	}
}

// TestConditionsAreBounded: each condition alone is within its cost, and all of them are not.
func TestConditionsAreBounded(t *testing.T) {
	const many = "[1,2,3,4,5,6,7,8,9,10]"
	loop := fmt.Sprintf("%[1]s.all(a, %[1]s.all(b, %[1]s.all(c, %[1]s.all(d, a+b+c+d > 0))))", many)
	f := &refitv1alpha1.ComponentForm{Groups: []refitv1alpha1.FormGroup{{Name: "a", Title: "A"}}}
	for i := range 64 {
		f.Groups[0].Items = append(f.Groups[0].Items, refitv1alpha1.FormItem{Name: fmt.Sprintf("i%d", i), Title: "I", Type: refitv1alpha1.FormText, When: loop})
	}
	compiled, err := CompileForm(f)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	got, err := form.Evaluate(ctx, f, nil, compiled.Evaluation())
	if err != nil || len(got.Problems) == 0 || got.Problems[0].Kind != form.Broken {
		t.Errorf("%v %+v", err, got)
	}
}

// BenchmarkForm: a form is compiled for each request.
func BenchmarkForm(b *testing.B) {
	f := &refitv1alpha1.ComponentForm{Groups: []refitv1alpha1.FormGroup{{Name: "a", Title: "A"}}}
	for i := range 64 {
		item := refitv1alpha1.FormItem{Name: fmt.Sprintf("i%d", i), Title: "I", Type: refitv1alpha1.FormText, Valid: fmt.Sprintf("values.i%d.startsWith('a')", i), Message: "must start with a"}
		if i > 0 {
			item.When = fmt.Sprintf("values.i%d == ''", i-1)
		}
		f.Groups[0].Items = append(f.Groups[0].Items, item)
	}
	for b.Loop() {
		if _, err := CompileForm(f); err != nil {
			b.Fatal(err)
		}
	}
}

// TestConditionsThatAreExpensiveToCompile: refit serve compiles the conditions of a ClusterRelease
// whose signature the caller cannot verify, and nothing can stop the compiler.
func TestConditionsThatAreExpensiveToCompile(t *testing.T) {
	wide := "{x:" + strings.Repeat("{x:", 60) + "x" + strings.Repeat("}", 61)
	for name, c := range map[string]struct{ condition, want string }{
		"maps of maps in a chain": {"[1]" + strings.Repeat(".map(x,{x:x})", 40) + ".size() > 0", "more than 4 nested or chained macros"},
		"maps with the same value as key and value": {
			"[1]" + strings.Repeat(".map(x,"+wide+")", 4) + ".size() > 0", "keys of its maps must be literals",
		},
		"optional values in a chain": {"optional.of(1)" + strings.Repeat(".optMap(x,x)", 40) + ".hasValue()", "more than 4 nested or chained macros such as optMap and optFlatMap"},
		"flat optional values":       {"optional.of(1)" + strings.Repeat(". optFlatMap (x,optional.of(x))", 40) + ".hasValue()", "more than 4 nested or chained macros such as optMap and optFlatMap"},
		"a map with literal keys":    {"{'small': 1, 'large': 3}[values.a] > 1 || {}.size() == 0", ""},
		"an optional value":          {"optional.of(1).optMap(x, x + 1).orValue(0) > 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := &refitv1alpha1.ComponentForm{Groups: []refitv1alpha1.FormGroup{{Name: "a", Title: "A", Items: []refitv1alpha1.FormItem{
				{Name: "a", Title: "A", Type: refitv1alpha1.FormText, Valid: c.condition, Message: "must fit"},
			}}}}
			start := time.Now()
			_, err := CompileForm(f)
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
