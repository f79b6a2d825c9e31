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
			Message:  fmt.Sprintf("the cluster has no %s for Kubernetes %s", what, h) + v.whyHop(h),
			Remedy: "Create, sign and add one: " + command("refit release add "+wanted+" --online") +
				", or " + command("--from DIRECTORY") + " without internet access",
		})
	}
	return found
}

// whyHop explains a hop that is not the target.
func (v *view) whyHop(h hop) string {
	switch {
	case h.last:
		return ""
	case !h.catchUp:
		return fmt.Sprintf(", which is on the path to %s", v.Path.To)
	}
	var oldest *node
	for i := range v.nodes {
		n := &v.nodes[i]
		if len(n.hops) > 0 && n.hops[0].catchUp && (oldest == nil || n.kubelet.Before(oldest.kubelet)) {
			oldest = n
		}
	}
	if oldest == nil {
		return ""
	}
	return fmt.Sprintf(", to which %s at %s must be upgraded before the control plane", oldest.Name, oldest.kubelet)
}

func releaseUnreadable(v *view) []Finding {
	var found []Finding
	for i := range v.s.Releases {
		if r := &v.s.Releases[i]; r.Error != "" {
			found = append(found, Finding{
				Object:  "ClusterRelease " + r.Name,
				Message: fmt.Sprintf("ClusterRelease %s is not usable: %s", r.Name, r.Error),
				Remedy: fmt.Sprintf("Delete it and create it again: `kubectl delete clusterrelease.refit.dev %s`, then %s",
					r.Name, command("refit release create")),
			})
		}
	}
	return found
}
