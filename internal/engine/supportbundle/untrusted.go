package supportbundle

import (
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/redact"
)

// line returns a text of a host as one bounded line without secrets.
func (r *run) line(text string) string {
	text, _ = r.redact.Text(strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " "))
	return refitv1alpha1.Clip(text, refitv1alpha1.MaxMessage)
}

// knownRules are the rules that a host may count.
func (r *run) knownRules() map[string]bool {
	out := map[string]bool{}
	for _, rule := range redact.Descriptions() {
		out[rule.Name] = true
	}
	return out
}
