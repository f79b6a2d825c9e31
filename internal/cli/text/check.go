package text

import (
	"fmt"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// Check renders the page of `refit check`.
func Check(r *cliv1alpha1.Report, page Page, next Next) string {
	w := newWriter(page)
	if r.Done() {
		return w.nothing(r, page.Wide)
	}
	w.para(0, append([]run{as(bold, ability(r))}, verdict(r)...)...)
	w.para(0, as(dim, w.seen(r)))

	w.findings("Blocking", r.Findings, isBlocking, page.Wide)
	w.findings("Warnings", r.Findings, isWarning, page.Wide)
	w.findings("Waived", r.Findings, isWaived, page.Wide)
	w.information(r, page.Wide)
	w.needed(r, page.Wide)
	w.next(r, next)
	return w.String()
}

// nothing writes the page of an upgrade that has nothing to do.
func (w *writer) nothing(r *cliv1alpha1.Report, wide bool) string {
	is := "is"
	if r.Request.Scope == "Workers" {
		is = "are"
	}
	done := fmt.Sprintf("%s %s at %s already.", subject(r), is, r.Request.To)
	if r.Request.Components {
		done = fmt.Sprintf("the components of %s are at the versions of its ClusterRelease of %s already.", r.Cluster.Name, r.Request.To)
	}
	w.para(0, as(bold, "Nothing to upgrade: "+done))
	w.para(0, as(dim, w.seen(r)))
	w.findings("Warnings", r.Findings, isWarning, wide)
	return w.String()
}

// ability reports whether the cluster can be upgraded. A control plane at the target has no version
// to upgrade from.
func ability(r *cliv1alpha1.Report) string {
	can := "can"
	if r.Blocked {
		can = "cannot"
	}
	switch {
	case r.Request.Components:
		return fmt.Sprintf("The components of %s %s be upgraded on Kubernetes %s:", r.Cluster.Name, can, r.Request.To)
	case r.Request.From != r.Request.To:
		return fmt.Sprintf("%s %s be upgraded from %s to %s:", subject(r), can, r.Request.From, r.Request.To)
	case r.Request.Scope == "Workers":
		return fmt.Sprintf("%s %s be upgraded to %s:", subject(r), can, r.Request.To)
	}
	return fmt.Sprintf("The control plane of %s is at %s already:", r.Cluster.Name, r.Request.To)
}

func blocking(n int) string {
	if n == 1 {
		return "1 finding blocks"
	}
	return phrase.Number(n) + " findings block"
}

// oldSnapshot is the age from which a page shows the age of its Snapshot.
const oldSnapshot = 24 * time.Hour

// seen is the cluster and the time of the Snapshot: a plan from an old Snapshot is an old plan.
func (w *writer) seen(r *cliv1alpha1.Report) string {
	c := &r.Cluster
	out := sizes(c)
	if c.Cost.Pods > 0 {
		out += ", " + phrase.Count(c.Cost.Pods, "pod")
	}
	if c.Saved != "" {
		out = fmt.Sprintf("%s; as saved in %s on %s", out, c.Saved, c.TakenAt.UTC().Format("2006-01-02 at 15:04 UTC"))
		if age := w.now.Sub(c.TakenAt); !w.now.IsZero() && age >= oldSnapshot {
			out += fmt.Sprintf(", %s ago", phrase.Count(int(age/(24*time.Hour)), "day"))
		}
		return out
	}
	if c.Cost.Requests > 0 {
		out += fmt.Sprintf("; read with %s in %.1f s", phrase.Count(c.Cost.Requests, "request"), max(0.1, float64(c.Cost.Milliseconds)/1000))
	}
	return out
}

func sizes(c *cliv1alpha1.Cluster) string {
	if c.ControlPlane+c.Workers == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%s, %s", phrase.Count(c.ControlPlane, "control plane node"), phrase.Count(c.Workers, "worker"))
}
