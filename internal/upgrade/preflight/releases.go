package preflight

import (
	"fmt"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// releaseFor finds what a hop installs, as the plan does: the last one exactly what was asked for, the others the newest of their minor version.
func (v *view) releaseFor(h hop) *cluster.Release {
	var best *cluster.Release
	var newest skew.Version
	for i := range v.s.Releases {
		r := &v.s.Releases[i]
		version, err := skew.Parse(r.Payload.Kubernetes)
		if err != nil || r.Error != "" || !version.SameMinor(h.version) {
			continue
		}
		switch {
		case h.last && v.Spec.Target.Release != "":
			if r.Name == v.Spec.Target.Release {
				return r
			}
		case h.last && version == h.version:
			return r
		case h.last || (h.catchUp && version.Before(h.version)): // nobody ends below the control plane's patch for no reason
			continue
		case best == nil || newest.Before(version) || (newest == version && best.Name < r.Name):
			best, newest = r, version
		}
	}
	return best
}

func releaseMissing(v *view) []Finding {
	var found []Finding
	for _, h := range v.hops {
		if h.release != nil || h.facts == nil {
			continue
		}
		wanted := h.version.String()
		if !h.last && !h.catchUp {
			wanted = h.facts.Version // the newest patch that is known
		}
		what := "Release"
		if h.last && v.Spec.Target.Release != "" {
			what = "Release " + v.Spec.Target.Release
		}
		found = append(found, Finding{
			Deferred: !v.s.Installed,
			Object:   "Release for " + h.String(),
			Message:  fmt.Sprintf("the cluster has no %s that brings Kubernetes %s", what, h),
			Remedy:   "Make one: " + coming("refit release create --kubernetes "+wanted),
		})
	}
	return found
}

func releaseUnreadable(v *view) []Finding {
	var found []Finding
	for i := range v.s.Releases {
		if r := &v.s.Releases[i]; r.Error != "" {
			found = append(found, Finding{
				Object:  "Release " + r.Name,
				Message: fmt.Sprintf("the Release %s cannot be used: %s", r.Name, r.Error),
				Remedy:  fmt.Sprintf("Remove it and make it anew: kubectl delete release.refit.dev %s; then %s", r.Name, coming("refit release create")),
			})
		}
	}
	return found
}
