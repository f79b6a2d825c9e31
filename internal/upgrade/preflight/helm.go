package preflight

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

func helmObject(h *cluster.Helm) string {
	return fmt.Sprintf("Helm release %s/%s", h.Namespace, h.Name)
}

func helmReleasePending(v *view) []Finding {
	var found []Finding
	for i := range v.s.Helm {
		h := &v.s.Helm[i]
		if strings.HasPrefix(h.Status, "pending-") {
			found = append(found, Finding{
				Object: helmObject(h),
				Message: fmt.Sprintf("revision %d of %s/%s is %s: Helm was interrupted and rejects further operations",
					h.Revision, h.Namespace, h.Name, h.Status),
				Remedy: fmt.Sprintf("If no Helm operation is in progress, run `helm -n %s rollback %s` (or `helm uninstall`, if it was never installed)",
					h.Namespace, h.Name),
			})
		}
	}
	return found
}

// removedAPIInHelmRelease reads the stored manifests, because the API server returns every object
// in a version that it serves.
func removedAPIInHelmRelease(v *view) []Finding {
	var found []Finding
	for i := range v.s.Helm {
		h := &v.s.Helm[i]
		seen := map[schema.GroupVersionKind]bool{}
		for _, object := range h.Objects {
			kind := schema.FromAPIVersionAndKind(object.APIVersion, object.Kind)
			if seen[kind] {
				continue
			}
			seen[kind] = true
			wrote := fmt.Sprintf("%s/%s contains %s %s in %s", h.Namespace, h.Name, object.Kind, object.Name, object.APIVersion)
			if at, instead, removed := v.removedKind(kind); removed {
				found = append(found, Finding{
					Object: helmObject(h), Remedy: rewriteRelease(instead),
					Message: fmt.Sprintf("%s, which %s no longer serves: Helm could not upgrade the release anymore", wrote, at),
				})
			} else if api, gone := v.alreadyRemoved(kind); gone {
				found = append(found, Finding{
					Severity: Warn, Object: helmObject(h),
					Remedy:  "Rewrite the stored release with the Helm plugin mapkubeapis; a newer chart is not enough.",
					Message: fmt.Sprintf("%s, which Kubernetes removed in %s: Helm already cannot upgrade the release", wrote, api.Removed),
				})
			}
		}
	}
	return found
}

// rewriteRelease returns the remedy for an API that is removed from under a Helm release.
func rewriteRelease(instead string) string {
	if instead == "" {
		instead = "an API that is not removed"
	}
	return fmt.Sprintf("Upgrade the chart to a version that uses %s, or rewrite the stored release with the Helm plugin mapkubeapis.", instead)
}

// alreadyRemoved reports whether the current version of Kubernetes no longer serves one of its own
// kinds.
func (v *view) alreadyRemoved(kind schema.GroupVersionKind) (kubefacts.API, bool) {
	if v.from == nil {
		return kubefacts.API{}, false
	}
	api, known := v.from.API(kind)
	if !known || api.Served || api.Removed == "" {
		return api, false
	}
	removed, err := skew.Parse(api.Removed + ".0")
	return api, err == nil && removed.MinorsBehind(v.Path.From) >= 0
}

// removedKind returns the hop that stops serving a kind, and its replacement.
func (v *view) removedKind(kind schema.GroupVersionKind) (at hop, instead string, removed bool) {
	if v.from != nil {
		if now, known := v.from.API(kind); !known || !now.Served {
			return hop{}, "", false // not a Kubernetes kind, or already removed
		}
	}
	for _, h := range v.hops {
		if h.facts == nil {
			continue
		}
		api, known := h.facts.API(kind)
		switch {
		case known && api.Served:
			continue
		case known:
			if _, by := v.removedBy(api.Removed); v.from == nil && !by {
				return hop{}, "", false
			}
			return h, api.Replacement, true
		case v.from != nil:
			return h, "", true
		}
	}
	return hop{}, "", false
}
