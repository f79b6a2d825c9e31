package preflight

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// removedAPIInUse reports each removed resource once, with the API servers that counted requests
// for it.
func removedAPIInUse(v *view) []Finding {
	type use struct {
		request cluster.DeprecatedRequest
		servers []string
	}
	var uses []use
	for i := range v.s.APIServers {
		server := &v.s.APIServers[i]
		for _, request := range server.Deprecated {
			at := slices.IndexFunc(uses, func(u use) bool { return u.request == request })
			if at < 0 {
				at = len(uses)
				uses = append(uses, use{request: request})
			}
			uses[at].servers = append(uses[at].servers, server.Node)
		}
	}
	var found []Finding
	for _, u := range uses {
		at, removes := v.removedBy(u.request.RemovedRelease)
		if !removes {
			continue
		}
		gvr := schema.GroupVersionResource{Group: u.request.Group, Version: u.request.Version, Resource: u.request.Resource}
		instead := ""
		if at.facts != nil {
			if api, known := at.facts.Resource(gvr); known && api.Replacement != "" {
				instead = " Migrate it to " + api.Replacement + "."
			}
		}
		found = append(found, Finding{
			Object: "API " + resourceName(gvr, u.request.Subresource),
			Message: fmt.Sprintf("clients requested %s since the API servers on %s started, but %s no longer serves it",
				resourceName(gvr, u.request.Subresource), joinNames(u.servers), at),
			Remedy: "Find the client in the audit log (annotation k8s.io/deprecated), or among old controllers and scripts." + instead +
				" The counter resets only when an API server restarts: until then, waive RemovedAPIInUse.",
		})
	}
	return found
}

// removedBy returns the hop that removes an API which release, such as "1.37", removes.
func (v *view) removedBy(release string) (hop, bool) {
	major, minor, ok := strings.Cut(release, ".")
	if !ok || major != "1" {
		return hop{}, false
	}
	removed, err := strconv.Atoi(minor)
	if err != nil || removed <= v.Path.From.Minor {
		return hop{}, false
	}
	for _, h := range v.hops {
		if h.version.Minor >= removed {
			return h, true
		}
	}
	return hop{}, false
}

func resourceName(gvr schema.GroupVersionResource, subresource string) string {
	name := gvr.GroupVersion().String() + " " + gvr.Resource
	if subresource != "" {
		name += "/" + subresource
	}
	return name
}

// deprecatedRequestsUnknown: each API server counts only its own requests, so the answer needs all
// of them.
func deprecatedRequestsUnknown(v *view) []Finding {
	if !v.movesControlPlane() || v.Path.To.SameMinor(v.Path.From) {
		return nil
	}
	why := map[string]cluster.Gap{}
	for _, gap := range v.s.Gaps {
		if gap.Part == cluster.PartDeprecated {
			why[gap.Object] = gap
		}
	}
	var silent []string
	var reason cluster.Gap
	proxied := false
	for i := range v.s.APIServers {
		server := &v.s.APIServers[i]
		if server.DeprecatedKnown == cluster.Yes {
			continue
		}
		silent = append(silent, server.Node)
		proxied = proxied || server.Via == cluster.ViaPodProxy
		if gap, is := why["Node "+server.Node]; is && reason.Message == "" {
			reason = gap
		}
	}
	if len(silent) == 0 {
		return nil
	}
	f := Finding{
		Unknown: true,
		Message: fmt.Sprintf("cannot determine whether clients use an API that the upgrade removes: no request metrics from the API servers on %s",
			joinNames(silent)),
	}
	if reason.Message != "" {
		f.Message += ": " + reason.Message
	}
	const orLog = ", or search the audit log for k8s.io/deprecated."
	switch {
	case proxied || reason.Kind == cluster.GapUnreachable:
		// The pod proxy drops the caller's identity, which /metrics needs.
		f.Remedy = "Run the check where the addresses of the API servers are reachable, such as on a control plane node" + orLog
	default:
		f.Remedy = "Grant Refit read access to /metrics of the API servers (nonResourceURL /metrics, verb get)" + orLog
	}
	return []Finding{f}
}

// apiServiceUnavailable only warns about metrics, which the upgrade does not need.
func apiServiceUnavailable(v *view) []Finding {
	var found []Finding
	for i := range v.s.APIs {
		api := &v.s.APIs[i]
		if api.Available == cluster.Yes {
			continue
		}
		f := Finding{
			Object:  "APIService " + api.Name,
			Message: fmt.Sprintf("API %s is unavailable", api.Name),
			Remedy:  fmt.Sprintf("Restore its API server, or delete the APIService if it is not needed: `kubectl describe apiservice %s`", api.Name),
		}
		if api.Message != "" {
			f.Message += ": " + api.Message
		}
		if strings.HasSuffix(api.Name, "metrics.k8s.io") || api.Available == cluster.Unknown {
			f.Severity = Warn
		}
		if api.Available == cluster.Unknown {
			f.Unknown = true
			f.Message = fmt.Sprintf("the availability of API %s is unknown", api.Name)
		}
		found = append(found, f)
	}
	return found
}
