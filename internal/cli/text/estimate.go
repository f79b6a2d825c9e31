package text

import (
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// about is an estimate, rounded to its precision.
func about(e cliv1alpha1.Estimate) string {
	if e.Seconds <= 0 {
		return "no time"
	}
	return "about " + duration(e)
}

// roughly is an estimate for a table column.
func roughly(e cliv1alpha1.Estimate) string {
	if e.Seconds <= 0 {
		return ""
	}
	return "~" + duration(e)
}

func duration(e cliv1alpha1.Estimate) string {
	return phrase.Duration(time.Duration(e.Seconds) * time.Second)
}
