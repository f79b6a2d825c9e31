package request

import (
	"fmt"
	"strings"
	"unicode"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

// ParseWaiver parses CHECK/OBJECT=REASON or CHECK=REASON. The name of a check has neither a slash
// nor an equals sign, so the first of each separates:
// "BudgetNeverAllows/PodDisruptionBudget shop/cart=deleted at night".
func ParseWaiver(s string) (refitv1alpha1.Waiver, error) {
	what, reason, found := strings.Cut(s, "=")
	check, object, one := strings.Cut(what, "/")
	waiver := refitv1alpha1.Waiver{Check: strings.TrimSpace(check), Object: strings.TrimSpace(object), Reason: strings.TrimSpace(reason)}
	switch {
	case !isCheck(waiver.Check):
		return waiver, fmt.Errorf("%q does not begin with the name of a check: use CHECK/OBJECT=REASON", s)
	case !found || waiver.Reason == "":
		return waiver, fmt.Errorf("%q has no reason: use CHECK/OBJECT=REASON", s)
	case one && waiver.Object == "": // an unset variable of a script must not waive the whole check
		return waiver, fmt.Errorf("%q names no object: use CHECK/OBJECT=REASON, or CHECK=REASON for all objects", s)
	}
	if err := knownCheck(waiver.Check); err != nil {
		return waiver, err
	}
	if preflight.LacksKind(waiver) {
		return waiver, fmt.Errorf("%q has no kind: name the object as `refit check` prints it, such as %q",
			waiver.Object, exampleObject(waiver))
	}
	return waiver, nil
}

// exampleObject adds the kind that the object of a waiver probably has.
func exampleObject(w refitv1alpha1.Waiver) string {
	switch {
	case !strings.Contains(w.Object, "/"):
		return policy.NodeObject(w.Object)
	case strings.Contains(w.Check, "Budget"):
		return "PodDisruptionBudget " + w.Object
	}
	return "Deployment " + w.Object
}

// isCheck reports whether a text could be the name of a check.
func isCheck(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) < 0
}
