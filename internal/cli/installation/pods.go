package installation

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/otlp"
)

// checkPods validates what the user chose for pods.
func (c *Choice) checkPods() error {
	for _, name := range without(c.PullSecrets) {
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			return exit.Usagef("--image-pull-secret: %q is not the name of a Secret", name)
		}
	}
	c.tolerations = nil
	for _, text := range without(c.Tolerations) {
		toleration, ok := parseToleration(text)
		if !ok {
			return exit.Usagef("--toleration: %q is not a toleration such as KEY=VALUE:NoExecute, KEY:NoExecute or KEY", text)
		}
		c.tolerations = append(c.tolerations, toleration)
	}
	if c.Traces == "" || c.Traces == None {
		return nil
	}
	if err := otlp.CheckEndpoint(c.Traces); err != nil {
		return exit.Usagef("--traces-endpoint: %w", err)
	}
	return nil
}

// without returns the values of a flag; none if its only value is None.
func without(values []string) []string {
	if slices.Equal(values, []string{None}) {
		return nil
	}
	return values
}

var effects = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}

// parseToleration parses KEY[=VALUE][:EFFECT], the format in which kubectl sets a taint. A
// toleration without a key, which would keep the controller on unreachable nodes, is not possible.
func parseToleration(text string) (corev1.Toleration, bool) {
	taint, effect, limited := strings.Cut(text, ":")
	key, value, exact := strings.Cut(taint, "=")
	out := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(effect)}
	if exact {
		out.Operator, out.Value = corev1.TolerationOpEqual, value
	}
	valid := len(validation.IsQualifiedName(key)) == 0 && len(validation.IsValidLabelValue(value)) == 0 &&
		(!limited || slices.Contains(effects, out.Effect))
	return out, valid
}
