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
				Message: fmt.Sprintf("revision %d of %s/%s is %s: Helm was interrupted and refuses to go on",
					h.Revision, h.Namespace, h.Name, h.Status),
				Remedy: fmt.Sprintf("If nobody is at work on it: helm -n %s rollback %s (or helm uninstall, if it was never installed).",
					h.Namespace, h.Name),
			})
		}
	}
	return found
}

// removedAPIInHelmRelease looks at what was written, since the API server shows every object in a version that it serves.
func removedAPIInHelmRelease(v *view) []Finding {
	var found []Finding
	for i := range v.s.Helm {
		h := &v.s.Helm[i]
		told := map[schema.GroupVersionKind]bool{}
		for _, object := range h.Objects {
			kind := schema.FromAPIVersionAndKind(object.APIVersion, object.Kind)
			if told[kind] {
				continue
			}
			told[kind] = true
			wrote := fmt.Sprintf("%s/%s wrote %s %s as %s", h.Namespace, h.Name, object.Kind, object.Name, object.APIVersion)
			if at, instead, removed := v.removedKind(kind); removed {
				found = append(found, Finding{
					Object: helmObject(h), Remedy: rewriteRelease(instead),
					Message: fmt.Sprintf("%s, which %s does not serve any more: Helm could not upgrade it then", wrote, at),
				})
			} else if api, gone := v.goneAlready(kind); gone {
				found = append(found, Finding{
					Severity: Warn, Object: helmObject(h),
					Remedy:  "Rewrite the stored release with the Helm plugin mapkubeapis; a newer chart alone does not help.",
					Message: fmt.Sprintf("%s, which Kubernetes removed in %s: Helm cannot upgrade it, now as little as afterwards", wrote, api.Removed),
				})
			}
		}
	}
	return found
}

// rewriteRelease is how to get an API out of a release before it is removed.
func rewriteRelease(instead string) string {
	if instead == "" {
		instead = "an API that stays"
	}
	return fmt.Sprintf("Upgrade the chart to a version that writes %s, or rewrite the stored release with the Helm plugin mapkubeapis.", instead)
}

// goneAlready says whether the cluster's present version has removed a kind of Kubernetes' own.
func (v *view) goneAlready(kind schema.GroupVersionKind) (kubefacts.API, bool) {
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

// removedKind returns the hop that does not serve a kind which is served now, and what to use instead.
func (v *view) removedKind(kind schema.GroupVersionKind) (at hop, instead string, removed bool) {
	if v.from != nil {
		if now, known := v.from.API(kind); !known || !now.Served {
			return hop{}, "", false // not of Kubernetes, or gone already: this upgrade changes nothing about it
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
