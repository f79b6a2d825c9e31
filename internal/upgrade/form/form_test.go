package form

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// goodForm has an item of each type.
func goodForm() *refitv1alpha1.ComponentForm {
	app := func(path string) []refitv1alpha1.FormTarget {
		return []refitv1alpha1.FormTarget{{Component: "app", Path: path}}
	}
	return &refitv1alpha1.ComponentForm{Groups: []refitv1alpha1.FormGroup{
		{Name: "general", Title: "General", Items: []refitv1alpha1.FormItem{
			{Name: "host", Title: "Host name", Type: refitv1alpha1.FormText, Required: true, Pattern: `[a-z.]+`, Sets: append(app("ingress.host"), refitv1alpha1.FormTarget{Component: "proxy", Path: "host"})},
			{Name: "replicas", Title: "Replicas", Type: refitv1alpha1.FormNumber, Default: int64(2), Pattern: `[0-9]`, Message: "must be one digit", Sets: app("replicas")},
			{Name: "plan", Title: "Plan", Type: refitv1alpha1.FormChoice, Options: []refitv1alpha1.FormOption{{Value: "small"}, {Value: "large"}}, Sets: app("plan")},
			{Name: "tls", Title: "TLS", Type: refitv1alpha1.FormSwitch, Sets: app("tls.enabled")},
		}},
		{Name: "secrets", Title: "Secrets", When: "tls", Items: []refitv1alpha1.FormItem{
			{Name: "token", Title: "Token", Type: refitv1alpha1.FormPassword, When: "host", Valid: "token", Message: "must be a token", Sets: app("tls.token")},
		}},
	}}
}

func offered() []refitv1alpha1.ReleaseComponent {
	return []refitv1alpha1.ReleaseComponent{
		{Name: "app", Version: "1.0.0", UserMay: []string{"**"}},
		{Name: "app", Version: "2.0.0", UserMay: []string{"**", "!image.**"}},
		{Name: "proxy", Version: "1.0.0", UserMay: []string{"host"}},
	}
}

// filled are conditions that hold if the answer that they name is not empty. The answer bad is
// false for valid, and broken cannot be evaluated.
type filled struct{ form *refitv1alpha1.ComponentForm }

func (f filled) Holds(_ context.Context, field string, answers map[string]any) (bool, error) {
	var g, i int
	name := f.form.Groups[0].When
	if _, err := fmt.Sscanf(field, "groups[%d].items[%d].", &g, &i); err == nil {
		name = f.form.Groups[g].Items[i].When
		if strings.HasSuffix(field, ".valid") {
			name = f.form.Groups[g].Items[i].Valid
		}
	} else if _, err := fmt.Sscanf(field, "groups[%d].when", &g); err == nil {
		name = f.form.Groups[g].When
	}
	answer, known := answers[name]
	if !known || answer == "broken" {
		return false, errors.New("the condition cannot be evaluated: broken")
	}
	return answer != nil && answer != "" && answer != false && answer != "bad", nil
}

func TestAnswers(t *testing.T) {
	all := Answers{"host": "a.b", "replicas": int64(3), "plan": "large", "tls": true, "token": "s3cret"}
	with := func(name string, answer any) Answers {
		out := Answers{}
		maps.Copy(out, all)
		if out[name] = answer; answer == "absent" {
			delete(out, name)
		}
		return out
	}
	for _, c := range []struct {
		name     string
		answers  Answers
		items    string
		problems string
		values   map[string]map[string]any
	}{
		{"everything", all, "host replicas plan tls token", "", map[string]map[string]any{
			"app": {
				"ingress": map[string]any{"host": "a.b"}, "replicas": int64(3), "plan": "large",
				"tls": map[string]any{"enabled": true, "token": "s3cret"},
			},
			"proxy": {"host": "a.b"},
		}},
		{"nothing", nil, "host replicas plan tls", "host is required", map[string]map[string]any{
			"app": {"replicas": int64(2), "tls": map[string]any{"enabled": false}}, "proxy": {},
		}},
		{"a hidden group sets nothing", with("tls", false), "host replicas plan tls", "", map[string]map[string]any{
			"app":   {"ingress": map[string]any{"host": "a.b"}, "replicas": int64(3), "plan": "large", "tls": map[string]any{"enabled": false}},
			"proxy": {"host": "a.b"},
		}},
		{"an empty answer is not the default", with("replicas", nil), "host replicas plan tls token", "", map[string]map[string]any{
			"app":   {"ingress": map[string]any{"host": "a.b"}, "plan": "large", "tls": map[string]any{"enabled": true, "token": "s3cret"}},
			"proxy": {"host": "a.b"},
		}},
		{"a pattern matches the whole text", with("host", "a.b 1"), "host replicas plan tls token", "host must match the pattern [a-z.]+", nil},
		{"a pattern of a number", with("replicas", 2.5), "host replicas plan tls token", "replicas must be one digit", nil},
		{"no option", with("plan", "huge"), "host replicas plan tls token", "plan must be one of the options", nil},
		{"a text that is a number", with("host", int64(1)), "host replicas plan tls", "host must be a text", nil},
		{"a number that is a text", with("replicas", "1"), "host replicas plan tls token", "replicas must be a number", nil},
		{"a number that JSON rounds", with("replicas", float64(1<<53)), "host replicas plan tls token", "replicas must be between -9007199254740991 and 9007199254740991", nil},
		{"a number that is no default of a browser", with("replicas", int64(-1<<53)), "host replicas plan tls token", "replicas must be between -9007199254740991 and 9007199254740991", nil},
		{"a switch that is a text", with("tls", "true"), "host replicas plan tls", "tls must be true or false", nil},
		{"a list", with("host", []any{"a"}), "host replicas plan tls", "host must be a text", nil},
		{"a text that is too long", with("token", strings.Repeat("a", maxText+1)), "host replicas plan tls token", "token must have at most 16384 bytes", nil},
		{"not valid", with("token", "bad"), "host replicas plan tls token", "token must be a token", nil},
		{
			"a broken condition", with("token", "broken"), "host replicas plan tls token",
			"token has a condition of the publisher that cannot be evaluated: groups[1].items[0].valid", nil,
		},
		{"another item", with("other", "x"), "host replicas plan tls token", "other is not an item of the form", nil},
		{"no password", with("token", "absent"), "host replicas plan tls token", "", map[string]map[string]any{
			"app":   {"ingress": map[string]any{"host": "a.b"}, "replicas": int64(3), "plan": "large", "tls": map[string]any{"enabled": true}},
			"proxy": {"host": "a.b"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := goodForm()
			got, err := Evaluate(t.Context(), f, c.answers, filled{f})
			if err != nil {
				t.Fatal(err)
			}
			var problems []string
			for _, p := range got.Problems {
				problems = append(problems, p.Item+" "+p.Detail)
			}
			if strings.Join(got.Items, " ") != c.items || strings.Join(problems, "; ") != c.problems {
				t.Errorf("shows %v with %q", got.Items, problems)
			}
			if values := Values(f, got.Answers); c.values != nil && !reflect.DeepEqual(values, c.values) {
				t.Errorf("values are %v", values)
			}
		})
	}
}

func TestFormsThatAreRefused(t *testing.T) {
	host := func(f *refitv1alpha1.ComponentForm) *refitv1alpha1.FormItem { return &f.Groups[0].Items[0] }
	for want, change := range map[string]func(*refitv1alpha1.ComponentForm){
		"groups: the list is empty":                          func(f *refitv1alpha1.ComponentForm) { f.Groups = nil },
		`groups[0].name: "General"`:                          func(f *refitv1alpha1.ComponentForm) { f.Groups[0].Name = "General" },
		"groups[1].name: general occurs twice":               func(f *refitv1alpha1.ComponentForm) { f.Groups[1].Name = "general" },
		"groups[0].title: it is missing":                     func(f *refitv1alpha1.ComponentForm) { f.Groups[0].Title = " " },
		"groups[0].items: the list is empty":                 func(f *refitv1alpha1.ComponentForm) { f.Groups[0].Items = nil },
		"groups[0].when: it has more than 2048":              func(f *refitv1alpha1.ComponentForm) { f.Groups[0].When = strings.Repeat("a", 2049) },
		`groups[0].items[0].name: "a-b" is not`:              func(f *refitv1alpha1.ComponentForm) { host(f).Name = "a-b" },
		`groups[0].items[0].name: "in" is not`:               func(f *refitv1alpha1.ComponentForm) { host(f).Name = "in" },
		"groups[1].items[0].name: host occurs twice":         func(f *refitv1alpha1.ComponentForm) { f.Groups[1].Items[0].Name = "host" },
		"groups[0].items[0].title: it is missing":            func(f *refitv1alpha1.ComponentForm) { host(f).Title = "" },
		"groups[0].items[0].help: it has more than 512":      func(f *refitv1alpha1.ComponentForm) { host(f).Help = strings.Repeat("ä", 513) },
		`groups[0].items[0].type: "Date" is not`:             func(f *refitv1alpha1.ComponentForm) { host(f).Type = "Date" },
		"groups[0].items[0].pattern: error parsing regexp":   func(f *refitv1alpha1.ComponentForm) { host(f).Pattern = ")(" },
		"groups[0].items[0].options: only a Choice":          func(f *refitv1alpha1.ComponentForm) { host(f).Options = []refitv1alpha1.FormOption{{Value: "a"}} },
		"groups[0].items[0].default: it must be a text":      func(f *refitv1alpha1.ComponentForm) { host(f).Default = int64(1) },
		"groups[0].items[0].default: it must match":          func(f *refitv1alpha1.ComponentForm) { host(f).Default = "A" },
		"groups[0].items[1].default: it must be one digit":   func(f *refitv1alpha1.ComponentForm) { f.Groups[0].Items[1].Default = int64(12) },
		"groups[0].items[2].default: it must be one of":      func(f *refitv1alpha1.ComponentForm) { f.Groups[0].Items[2].Default = "huge" },
		"groups[0].items[2].options: a Choice has between":   func(f *refitv1alpha1.ComponentForm) { f.Groups[0].Items[2].Options = nil },
		`groups[0].items[2].options[1].value: "small" occur`: func(f *refitv1alpha1.ComponentForm) { f.Groups[0].Items[2].Options[1].Value = "small" },
		"groups[0].items[3].type: a Switch has no":           func(f *refitv1alpha1.ComponentForm) { f.Groups[0].Items[3].Required = true },
		"groups[1].items[0].default: a password has none":    func(f *refitv1alpha1.ComponentForm) { f.Groups[1].Items[0].Default = "x" },
		"groups[1].items[0].message: it is missing":          func(f *refitv1alpha1.ComponentForm) { f.Groups[1].Items[0].Message = "" },
		`groups[0].items[0].sets[0].component: the Cl`:       func(f *refitv1alpha1.ComponentForm) { host(f).Sets[0].Component = "other" },
		`groups[0].items[0].sets[0].path: "a..b" is not`:     func(f *refitv1alpha1.ComponentForm) { host(f).Sets[0].Path = "a..b" },
		"groups[0].items[0].sets[0].path: userMay of app 2.0.0 does not allow image.tag": func(f *refitv1alpha1.ComponentForm) {
			host(f).Sets[0].Path = "image.tag"
		},
		"groups[0].items[0].sets[1].path: userMay of proxy 1.0.0": func(f *refitv1alpha1.ComponentForm) { host(f).Sets[1].Path = "hosts" },
		"groups[0].items[1].sets[0].path: ingress.host of app":    func(f *refitv1alpha1.ComponentForm) { f.Groups[0].Items[1].Sets[0].Path = "ingress.host" },
		"groups[0].items[1].sets[0].path: ingress of app":         func(f *refitv1alpha1.ComponentForm) { f.Groups[0].Items[1].Sets[0].Path = "ingress" },
		"groups[1].items[0].sets[0].path: tls.enabled.x of app":   func(f *refitv1alpha1.ComponentForm) { f.Groups[1].Items[0].Sets[0].Path = "tls.enabled.x" },
	} {
		f := goodForm()
		change(f)
		if err := Validate(f, offered()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := Validate(goodForm(), offered()); err != nil {
		t.Error(err)
	}
	many := goodForm()
	for i := range maxItems {
		many.Groups[0].Items = append(many.Groups[0].Items, refitv1alpha1.FormItem{Name: fmt.Sprintf("i%d", i), Title: "I", Type: refitv1alpha1.FormText})
	}
	if err := Validate(many, offered()); err == nil || !strings.Contains(err.Error(), "at most 64 items") {
		t.Error(err)
	}
}

func TestPasswordsAreStoredApart(t *testing.T) {
	f := goodForm()
	stored := Store(f, Answers{"host": "a.b", "replicas": int64(9007199254740993), "plan": nil, "token": "s3cret"})
	raw, err := stored.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	answers, passwords := read.For(f)
	if !reflect.DeepEqual(answers, Answers{"host": "a.b", "replicas": int64(9007199254740993), "plan": nil}) || !reflect.DeepEqual(passwords, []string{"token"}) {
		t.Errorf("%v %v", answers, passwords)
	}
	for _, c := range []struct {
		given, want any
	}{{"absent", "s3cret"}, {"new", "new"}, {"", ""}, {nil, nil}} {
		given := Answers{"host": "c"}
		if c.given != "absent" {
			given["token"] = c.given
		}
		if got := read.Complete(f, given); got["token"] != c.want || got["host"] != "c" {
			t.Errorf("%v becomes %v", given, got)
		}
	}
	// Another form has a text with the name of the password.
	other := goodForm()
	other.Groups[1].Items[0].Type = refitv1alpha1.FormText
	answers, passwords = read.For(other)
	if complete := read.Complete(other, nil); answers["token"] != nil || len(passwords) > 0 || complete["token"] != nil {
		t.Errorf("%v %v %v", answers, passwords, complete)
	}
	if Public(f, Answers{"host": "a", "token": "s3cret"})["token"] != masked {
		t.Error("a password is not masked")
	}
	for _, bad := range []string{"{", `{"answers":["s3cret"]}`} {
		if _, err := Decode([]byte(bad)); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Error(err)
		}
	}
}

func TestWholeNumbersAreIntegers(t *testing.T) {
	got := Integers(map[string]any{"a": 3.0, "b": 3.5, "c": 1e300, "d": "3", "e": 0.0})
	if want := (Answers{"a": int64(3), "b": 3.5, "c": 1e300, "d": "3", "e": int64(0)}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

// TestAnyAnswers: whatever is answered, no value is set that userMay forbids, that is of an item
// that is hidden, or that is not of its type; and answers that are kept give the same again.
func TestAnyAnswers(t *testing.T) {
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		f := goodForm()
		answer := rapid.OneOf(
			rapid.StringMatching(`[a-z.]{0,4}`).AsAny(), rapid.Int64Range(-2, 12).AsAny(), rapid.Float64().AsAny(), rapid.Bool().AsAny(),
			rapid.SampledFrom([]any{nil, "small", "bad", "broken", []any{"a"}, map[string]any{"a": "b"}}),
		)
		answers := rapid.MapOf(rapid.SampledFrom([]string{"host", "replicas", "plan", "tls", "token", "other"}), answer).Draw(t, "answers")
		got, err := Evaluate(ctx, f, answers, filled{f})
		if err != nil {
			t.Fatal(err)
		}
		values := Values(f, got.Answers)
		for _, c := range offered() {
			if paths := component.Forbidden(c.UserMay, values[c.Name]); len(paths) > 0 {
				t.Fatalf("%s may not set %v", c.Name, paths)
			}
		}
		for name, value := range got.Answers {
			item := find(f, name)
			if !strings.Contains(" "+strings.Join(got.Items, " ")+" ", " "+name+" ") || wrongType(item, value) != "" {
				t.Fatalf("%s has the answer %v, and %v are shown", name, value, got.Items)
			}
		}
		if len(got.Problems) > 0 {
			return
		}
		again, err := Evaluate(ctx, f, got.Given, filled{f})
		if err != nil || len(again.Problems) > 0 || !reflect.DeepEqual(again.Answers, got.Answers) {
			t.Fatalf("kept answers give %v, not %v", again.Answers, got.Answers)
		}
	})
}

func find(f *refitv1alpha1.ComponentForm, name string) *refitv1alpha1.FormItem {
	for item := range items(f) {
		if item.Name == name {
			return item
		}
	}
	return &refitv1alpha1.FormItem{}
}
