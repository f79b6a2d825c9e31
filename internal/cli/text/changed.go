package text

import cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"

// Changed writes what follows from what a person told an operation.
func Changed(c *cliv1alpha1.Change, p Page) string {
	w := newWriter(p)
	w.para(0, as(plain, c.Message))
	if c.Plan != "" {
		w.para(0, as(dim, "Plan"), as(dim, c.Plan))
	}
	return w.String()
}
