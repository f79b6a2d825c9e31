package preflight

import "fmt"

func releaseMissing(v *view) []Finding {
	var found []Finding
	for _, h := range v.hops {
		if h.release != nil || h.facts == nil {
			continue
		}
		wanted := h.version.String()
		if !h.last && !h.catchUp {
			wanted = h.facts.Version // the newest known patch
		}
		what := "ClusterRelease"
		if h.last && v.Spec.Target.Release != "" {
			what = "ClusterRelease " + v.Spec.Target.Release
		}
		found = append(found, Finding{
			Deferred: !v.s.Installed,
			Object:   "ClusterRelease for " + h.String(),
			Message:  fmt.Sprintf("the cluster has no %s for Kubernetes %s", what, h),
			Remedy:   "Create, sign and apply one: " + command("refit release create --kubernetes "+wanted+" --from DIRECTORY"),
		})
	}
	return found
}

func releaseUnreadable(v *view) []Finding {
	var found []Finding
	for i := range v.s.Releases {
		if r := &v.s.Releases[i]; r.Error != "" {
			found = append(found, Finding{
				Object:  "ClusterRelease " + r.Name,
				Message: fmt.Sprintf("ClusterRelease %s is not usable: %s", r.Name, r.Error),
				Remedy: fmt.Sprintf("Delete it and create it again: kubectl delete clusterrelease.refit.dev %s, then %s",
					r.Name, command("refit release create")),
			})
		}
	}
	return found
}
