package text

import cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"

// Changed renders the result of a verb.
func Changed(c *cliv1alpha1.Change, p Page) string {
	w := newWriter(p)
	w.para(0, as(plain, c.Message))
	if c.Plan != "" {
		w.para(0, as(dim, "Plan"), as(dim, c.Plan))
	}
	return w.String()
}
