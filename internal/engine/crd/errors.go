package crd

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrSavedTooLarge is returned for CRDs that do not fit into a Secret. The caller saves them in
// several parts.
var ErrSavedTooLarge = errors.New("the saved CRDs exceed the size of a Secret")

// ErrConversionUnavailable is returned if the API server cannot convert objects with the webhook of
// their CRD. The caller waits, or stalls.
var ErrConversionUnavailable = errors.New("the conversion webhook does not respond")

// A ChangedError is returned if somebody else has changed, deleted or recreated a CRD since it was
// saved. The caller writes nothing and makes a new plan.
type ChangedError struct{ Name, Cause string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("cannot change the CRD %s: %s", e.Name, e.Cause)
}

// maxNamedFindings bounds the findings in the text of a LossError.
const maxNamedFindings = 10

// A LossError is returned before the first write of a rollback under which objects would be refused
// or lose fields. The caller stalls and shows the reports.
type LossError struct {
	// Reports has the report of each CRD that blocks, by name.
	Reports map[string]*Report
}

func (e *LossError) Error() string {
	var named []string
	total := 0
	for _, name := range slices.Sorted(maps.Keys(e.Reports)) {
		for _, f := range e.Reports[name].Findings {
			if f.Severity == Block && len(named) < maxNamedFindings {
				named = append(named, strings.TrimSpace(fmt.Sprintf("%s %s: %s", name, f.Object, f.Message)))
			}
		}
		total += e.Reports[name].Total
	}
	text := "cannot roll CRDs back without loss: " + strings.Join(named, "; ")
	if more := total - len(named); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
