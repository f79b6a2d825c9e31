package supportbundle

import (
	"errors"
	"strings"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/redact"
)

// ErrEmpty is the error of a bundle in which nothing could be collected. Its index has the reasons.
var ErrEmpty = errors.New("nothing could be collected")

// Finish completes an index: the redactions of all parts, and rules that found nothing.
func Finish(index *cliv1alpha1.SupportBundle) {
	index.Redactions = map[string]int64{}
	for _, rule := range redact.Descriptions() {
		index.Redactions[rule.Name] = 0
	}
	for i := range index.Parts {
		for rule, n := range index.Parts[i].Redactions {
			index.Redactions[rule] += n
		}
	}
}

// CheckNotEmpty returns an error if no part was collected, with the first reason.
func CheckNotEmpty(index *cliv1alpha1.SupportBundle) error {
	var reasons []string
	for i := range index.Parts {
		p := &index.Parts[i]
		if p.Path != "" && p.Error == nil || p.Bytes > 0 {
			return nil
		}
		if p.Error != nil && len(reasons) < 2 {
			reasons = append(reasons, p.Source+": "+strings.TrimRight(p.Error.Message, ".")+". "+p.Error.Remedy)
		}
	}
	if index.APIUnreachable != nil && len(reasons) == 0 {
		reasons = append(reasons, index.APIUnreachable.Message+". "+index.APIUnreachable.Remedy)
	}
	if len(reasons) == 0 {
		return ErrEmpty
	}
	return &emptyError{ErrEmpty.Error() + ": " + strings.Join(reasons, "; ")}
}

type emptyError struct{ message string }

func (e *emptyError) Error() string { return e.message }

func (e *emptyError) Unwrap() error { return ErrEmpty }
