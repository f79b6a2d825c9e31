package text_test

import (
	"strings"
	"testing"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

func TestFindingsOfOldReportsHaveTheirAge(t *testing.T) {
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	page := func(message func(i int) string, ages ...time.Duration) string {
		r := &cliv1alpha1.Report{Kind: cliv1alpha1.KindCheck, Blocked: true, Counts: cliv1alpha1.Counts{Block: len(ages)}}
		for i, age := range ages {
			f := cliv1alpha1.Finding{Check: "DiskTooSmall", Severity: "Block", Blocks: true, Object: "Node worker-" + string(rune('1'+i)), Message: message(i)}
			if age > 0 {
				f.ReportTime = now.Add(-age)
			}
			r.Findings = append(r.Findings, f)
		}
		return text.Check(r, text.Page{Now: now, Width: 140}, text.Next{Again: "refit check"})
	}
	same := func(int) string { return "a disk has too little free space" }
	own := func(i int) string { return "disk " + string(rune('a'+i)) + " has too little free space" }
	for name, c := range map[string]struct {
		page string
		want []string
	}{
		"one":             {page(same, 3*time.Hour), []string{"Node worker-1 (reported 3 h ago)"}},
		"alike":           {page(same, 20*time.Minute, 3*time.Hour), []string{"Node worker-1, Node worker-2 (reported up to 3 h ago)"}},
		"different":       {page(own, 3*time.Hour, 30*24*time.Hour), []string{"Node worker-1 (reported 3 h ago)", "Node worker-2 (reported 30 d ago)"}},
		"recent":          {page(same, time.Minute), nil},
		"not of a report": {page(own, 0, 0), nil},
	} {
		for _, want := range c.want {
			if !strings.Contains(c.page, want+"\n") {
				t.Errorf("%s: the page does not contain %q:\n%s", name, want, c.page)
			}
		}
		if len(c.want) == 0 && strings.Contains(c.page, "reported") {
			t.Errorf("%s: the page has an age:\n%s", name, c.page)
		}
	}
}
