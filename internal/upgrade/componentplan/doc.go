// Package componentplan decides which components an upgrade changes, where in the plan, and what
// its approval covers.
//
// It joins the placement of package component with what is installed and offered in a cluster. The
// plan and the preflight checks use the same result.
package componentplan
