package text

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// reviewed is what a signer reviews of a component, beside its versions and its chart.
type reviewed struct {
	Fits     []refitv1alpha1.ComponentFit   `json:"fits,omitempty"`
	Values   map[string]any                 `json:"values,omitempty"`
	UserMay  []string                       `json:"userMay,omitempty"`
	Images   []string                       `json:"images,omitempty"`
	OnRemove refitv1alpha1.RemovalPolicy    `json:"onRemove,omitempty"`
	Checks   []refitv1alpha1.ComponentCheck `json:"checks,omitempty"`
	Recipe   []refitv1alpha1.RecipeStep     `json:"recipe,omitempty"`
}

// writeComponent writes the policies of a component as YAML, as the publisher wrote them.
func writeComponent(b *strings.Builder, c *refitv1alpha1.ReleaseComponent) {
	writeReviewed(b, fmt.Sprintf("Component %s %s, chart %s", c.Name, c.Version, c.Chart.Digest),
		reviewed{c.Fits, c.Values, c.UserMay, c.Images, c.OnRemove, c.Checks, c.Recipe})
}

// writeForm writes the form that users fill in.
func writeForm(b *strings.Builder, form *refitv1alpha1.ComponentForm) {
	if form != nil {
		writeReviewed(b, "Form", form)
	}
}

// writeReviewed writes YAML under a title, unless it is empty.
func writeReviewed(b *strings.Builder, title string, content any) {
	text, err := yaml.Marshal(content)
	if err != nil {
		text = []byte("cannot be shown: " + err.Error())
	}
	if strings.TrimSpace(string(text)) == "{}" {
		return
	}
	fmt.Fprintf(b, "\n%s\n", Clean(title))
	for line := range strings.Lines(string(text)) {
		fmt.Fprintln(b, "  "+Clean(strings.TrimSuffix(line, "\n")))
	}
}
