package form

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

// The limits of a form.
const (
	maxGroups      = 16
	maxItems       = 64 // of all groups
	maxOptions     = 64
	maxSets        = 8
	maxTitle       = 128
	maxDescription = 512 // of a group, and the help of an item
	maxPattern     = 512
	maxCondition   = 2048
	maxPath        = 253
	// maxText is the size of an answer. A certificate fits.
	maxText = 16 << 10
)

var itemName = regexp.MustCompile(`^[a-z][a-zA-Z0-9]{0,62}$`)

// reserved are names that conditions could not refer to: the keywords of CEL.
var reserved = []string{
	"as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop", "namespace", "null",
	"package", "return", "true", "var", "void", "while",
}

// Validate validates a form of a ClusterRelease with these components, except its conditions: only
// those who evaluate conditions compile them. Each error names the field.
func Validate(f *refitv1alpha1.ComponentForm, components []refitv1alpha1.ReleaseComponent) error {
	switch {
	case len(f.Groups) == 0:
		return errors.New("groups: the list is empty")
	case len(f.Groups) > maxGroups:
		return fmt.Errorf("groups: %d are more than %d", len(f.Groups), maxGroups)
	}
	v := validator{components: components, set: map[string][]string{}}
	for g := range f.Groups {
		if err := v.group(&f.Groups[g]); err != nil {
			return fmt.Errorf("groups[%d].%w", g, err)
		}
	}
	return nil
}

// validator has what was validated of a form.
type validator struct {
	components    []refitv1alpha1.ReleaseComponent
	groups, items []string
	set           map[string][]string // paths of each component
}

func (v *validator) group(g *refitv1alpha1.FormGroup) error {
	switch {
	case len(validation.IsDNS1123Label(g.Name)) > 0:
		return fmt.Errorf("name: %q is not a DNS label of at most 63 characters", refitv1alpha1.Clip(g.Name, 80))
	case slices.Contains(v.groups, g.Name):
		return fmt.Errorf("name: %s occurs twice", g.Name)
	case len(g.Items) == 0:
		return errors.New("items: the list is empty")
	}
	err := errors.Join(text("title", g.Title, maxTitle, true), text("description", g.Description, maxDescription, false), condition("when", g.When))
	if err != nil {
		return err
	}
	v.groups = append(v.groups, g.Name)
	for i := range g.Items {
		if err := v.item(&g.Items[i]); err != nil {
			return fmt.Errorf("items[%d].%w", i, err)
		}
	}
	return nil
}

func (v *validator) item(i *refitv1alpha1.FormItem) error {
	switch {
	case !itemName.MatchString(i.Name) || slices.Contains(reserved, i.Name):
		return fmt.Errorf("name: %q is not a name such as storageClass: a lower case letter, then at most 62 letters and digits, and no keyword of CEL",
			refitv1alpha1.Clip(i.Name, 80))
	case slices.Contains(v.items, i.Name):
		return fmt.Errorf("name: %s occurs twice", i.Name)
	case len(v.items) == maxItems:
		return fmt.Errorf("name: a form has at most %d items", maxItems)
	case i.Valid != "" && i.Message == "":
		return errors.New("message: it is missing, and describes what valid requires")
	}
	v.items = append(v.items, i.Name)
	for _, err := range []error{
		text("title", i.Title, maxTitle, true), text("help", i.Help, maxDescription, false), text("message", i.Message, maxTitle, false),
		condition("when", i.When), condition("valid", i.Valid), ofType(i), defaultOf(i), v.targets(i),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// ofType validates the fields that depend on the type of an item.
func ofType(i *refitv1alpha1.FormItem) error {
	switch i.Type {
	case refitv1alpha1.FormText, refitv1alpha1.FormPassword, refitv1alpha1.FormNumber:
		if len(i.Options) > 0 {
			return errors.New("options: only a Choice has options")
		}
	case refitv1alpha1.FormSwitch:
		if len(i.Options) > 0 || i.Pattern != "" || i.Required {
			return errors.New("type: a Switch has no options, no pattern and is not required: it is on or off")
		}
	case refitv1alpha1.FormChoice:
		if i.Pattern != "" {
			return errors.New("pattern: a Choice has options, and no pattern")
		}
		return options(i.Options)
	default:
		return fmt.Errorf("type: %q is not Text, Number, Switch, Choice or Password", refitv1alpha1.Clip(string(i.Type), 40))
	}
	if len(i.Pattern) > maxPattern {
		return fmt.Errorf("pattern: it has more than %d bytes", maxPattern)
	}
	if _, err := whole(i.Pattern); err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	return nil
}

func options(all []refitv1alpha1.FormOption) error {
	if len(all) == 0 || len(all) > maxOptions {
		return fmt.Errorf("options: a Choice has between 1 and %d options, not %d", maxOptions, len(all))
	}
	var values []string
	for i, o := range all {
		if err := errors.Join(text("value", o.Value, maxTitle, true), text("title", o.Title, maxTitle, false)); err != nil {
			return fmt.Errorf("options[%d].%w", i, err)
		}
		if slices.Contains(values, o.Value) {
			return fmt.Errorf("options[%d].value: %q occurs twice", i, o.Value)
		}
		values = append(values, o.Value)
	}
	return nil
}

func defaultOf(i *refitv1alpha1.FormItem) error {
	if i.Default == nil {
		return nil
	}
	if i.Type == refitv1alpha1.FormPassword {
		return errors.New("default: a password has none, because everybody can read the form")
	}
	if detail := wrongType(i, i.Default); detail != "" {
		return errors.New("default: it " + detail)
	}
	if detail := mismatch(i, i.Default); detail != "" {
		return errors.New("default: it " + detail)
	}
	return nil
}

// targets validates the values that an answer becomes. A path is set by one item, so that the
// order of items does not decide.
func (v *validator) targets(i *refitv1alpha1.FormItem) error {
	if len(i.Sets) > maxSets {
		return fmt.Errorf("sets: %d are more than %d", len(i.Sets), maxSets)
	}
	for n, t := range i.Sets {
		if err := v.target(t); err != nil {
			return fmt.Errorf("sets[%d].%w", n, err)
		}
		v.set[t.Component] = append(v.set[t.Component], t.Path)
	}
	return nil
}

func (v *validator) target(t refitv1alpha1.FormTarget) error {
	if len(t.Path) > maxPath || slices.Contains(strings.Split(t.Path, "."), "") || strings.ContainsFunc(t.Path, unicode.IsControl) {
		return fmt.Errorf("path: %q is not a dotted path of at most %d characters", refitv1alpha1.Clip(t.Path, 80), maxPath)
	}
	known := false
	for i := range v.components {
		c := &v.components[i]
		if c.Name != t.Component {
			continue
		}
		known = true
		if len(component.Forbidden(c.UserMay, nested(t.Path, true))) > 0 {
			return fmt.Errorf("path: userMay of %s %s does not allow %s", c.Name, c.Version, t.Path)
		}
	}
	if !known {
		return fmt.Errorf("component: the ClusterRelease has no component %q", refitv1alpha1.Clip(t.Component, 80))
	}
	for _, other := range v.set[t.Component] {
		if strings.HasPrefix(t.Path+".", other+".") || strings.HasPrefix(other+".", t.Path+".") {
			return fmt.Errorf("path: %s of %s is set already, by the path %s", t.Path, t.Component, other)
		}
	}
	return nil
}

func text(field, value string, limit int, required bool) error {
	switch {
	case required && strings.TrimSpace(value) == "":
		return fmt.Errorf("%s: it is missing", field)
	case len([]rune(value)) > limit:
		return fmt.Errorf("%s: it has more than %d characters", field, limit)
	}
	return nil
}

func condition(field, value string) error {
	if len(value) > maxCondition {
		return fmt.Errorf("%s: it has more than %d bytes", field, maxCondition)
	}
	return nil
}

// whole compiles a pattern that matches the whole text.
func whole(pattern string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(pattern); err != nil {
		return nil, err // such as ")(", which is valid between parentheses
	}
	return regexp.Compile(`^(?:` + pattern + `)$`)
}
