package preflight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// expiryWarning is how long before its expiry a certificate is reported.
const expiryWarning = 30 * 24 * time.Hour

// requiredNamespaced are namespaced resources that an upgrade needs: nodes return with leases, and
// kubeadm writes ConfigMaps, roles and addons. Namespaces are included because a namespaceSelector
// matches a Namespace object by its own labels.
var requiredNamespaced = map[string][]string{
	"":                          {"configmaps", "events", "namespaces", "pods", "secrets", "serviceaccounts", "services"},
	"apps":                      {"controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"},
	"coordination.k8s.io":       {"leases"},
	"discovery.k8s.io":          {"endpointslices"},
	"rbac.authorization.k8s.io": {"rolebindings", "roles"},
}

// requiredClusterScoped are cluster-scoped resources that an upgrade needs, which no
// namespaceSelector excludes: nodes register, kubelets request certificates, kubeadm writes roles,
// and API servers write APIServices and flow control objects.
var requiredClusterScoped = map[string][]string{
	"":                             {"nodes"},
	"admissionregistration.k8s.io": {"validatingadmissionpolicies", "validatingadmissionpolicybindings"},
	"apiregistration.k8s.io":       {"apiservices"},
	"certificates.k8s.io":          {"certificatesigningrequests"},
	"flowcontrol.apiserver.k8s.io": {"flowschemas", "prioritylevelconfigurations"},
	"rbac.authorization.k8s.io":    {"clusterrolebindings", "clusterroles"},
	"refit.dev":                    {"clusterupgrades", "nodereports", "nodeupgrades", "clusterreleases"},
	"scheduling.k8s.io":            {"priorityclasses"},
	"storage.k8s.io":               {"csinodes"},
}

func webhookObject(w *cluster.Webhook) string {
	if w.Mutating {
		return "MutatingWebhookConfiguration " + w.Configuration
	}
	return "ValidatingWebhookConfiguration " + w.Configuration
}

// matches reports whether a rule, written as group/resource with "*" as a wildcard, matches a
// resource. A rule for a subresource (pods/exec, */scale) does not match the resource itself,
// except for a wildcard.
func matches(rule, group, resource string) bool {
	ruleGroup, rest, slash := strings.Cut(rule, "/")
	if !slash {
		ruleGroup, rest = "", rule
		if rule == "*" {
			ruleGroup = "*"
		}
	}
	name, sub, _ := strings.Cut(rest, "/")
	return (ruleGroup == "*" || ruleGroup == group) && (name == "*" || name == resource) && (sub == "" || sub == "*")
}

// matched lists the resources that the rules of a webhook match, except for the excluded rules.
func matched(w *cluster.Webhook, resources map[string][]string, excluded []string) []string {
	var out []string
	for group, names := range resources {
		for _, name := range names {
			if slices.ContainsFunc(w.Resources, func(rule string) bool { return !slices.Contains(excluded, rule) && matches(rule, group, name) }) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

func matchesPods(w *cluster.Webhook) bool {
	return len(matched(w, map[string][]string{"": {"pods"}}, w.OnlyCluster)) > 0
}

// matchedNamespaced and matchedClusterScoped return the required resources that a webhook matches.
func matchedNamespaced(w *cluster.Webhook) []string {
	return matched(w, requiredNamespaced, w.OnlyCluster)
}

func matchedClusterScoped(w *cluster.Webhook) []string {
	return matched(w, requiredClusterScoped, w.OnlyNamespaced)
}

// matchesRequired reports whether a webhook matches a resource that the upgrade needs.
func matchesRequired(w *cluster.Webhook) bool {
	return len(matchedNamespaced(w))+len(matchedClusterScoped(w)) > 0
}

func webhookUnreachable(v *view) []Finding {
	var found []Finding
	for i := range v.s.Webhooks {
		w := &v.s.Webhooks[i]
		if !w.FailClosed {
			continue
		}
		f := Finding{Severity: Warn, Object: webhookObject(w)}
		if matchesRequired(w) {
			f.Severity = Block
		}
		switch b := w.Backend; {
		case b == nil && w.URL != "":
			if f.Severity != Block {
				continue
			}
			f.Severity, f.Unknown = Warn, true
			f.Message = fmt.Sprintf("webhook %s runs outside the cluster at %s and fails closed: its availability is unknown", w.Name, w.URL)
			f.Remedy = "Make sure that it is available during the upgrade."
		case b == nil:
			continue
		case b.Found == cluster.Unknown:
			f.Unknown = true
			f.Message = fmt.Sprintf("the availability of webhook %s (Service %s/%s) is unknown, and it fails closed", w.Name, b.Namespace, b.Service)
			f.Remedy = fmt.Sprintf("Check its endpoints: `kubectl -n %s get endpointslices -l kubernetes.io/service-name=%s`", b.Namespace, b.Service)
		case b.Found == cluster.No:
			f.Message = fmt.Sprintf("webhook %s fails closed and its Service %s/%s does not exist: every request that it matches is rejected",
				w.Name, b.Namespace, b.Service)
			f.Remedy = removal(v, w)
		case b.Ready <= 0:
			f.Message = fmt.Sprintf("webhook %s fails closed and Service %s/%s has no ready pods: every request that it matches is rejected",
				w.Name, b.Namespace, b.Service)
			f.Remedy = fmt.Sprintf("Fix its pods: `kubectl -n %s get pods`", b.Namespace)
		default:
			continue
		}
		found = append(found, f)
	}
	return found
}

// removal returns the remedy for a webhook whose Service does not exist. Other webhooks of the
// configuration may be in use.
func removal(v *view, w *cluster.Webhook) string {
	inUse := slices.ContainsFunc(v.s.Webhooks, func(other cluster.Webhook) bool {
		return other.Configuration == w.Configuration && other.Mutating == w.Mutating && (other.Backend == nil || other.Backend.Found != cluster.No)
	})
	kind, name, _ := strings.Cut(webhookObject(w), " ")
	if inUse {
		return fmt.Sprintf("Remove only the entry %s: `kubectl edit %s/%s`", w.Name, strings.ToLower(kind), name)
	}
	return fmt.Sprintf("Delete the stale configuration: `kubectl delete %s/%s`", strings.ToLower(kind), name)
}

// webhookHasOneReplica covers webhooks whose pods all run on one node that is drained.
func webhookHasOneReplica(v *view) []Finding {
	var found []Finding
	for i := range v.s.Webhooks {
		w := &v.s.Webhooks[i]
		b := w.Backend
		if !w.FailClosed || len(w.Resources) == 0 || b == nil || b.Found != cluster.Yes || b.Ready <= 0 || len(b.Nodes) != 1 {
			continue
		}
		n := v.byName[b.Nodes[0]]
		if n == nil || !n.drained {
			continue
		}
		where := "its only pod is"
		if b.Ready > 1 {
			where = fmt.Sprintf("all of its %d pods are", b.Ready)
		}
		f := Finding{
			Severity: Info,
			Object:   webhookObject(w),
			Message: fmt.Sprintf("webhook %s fails closed and %s on %s: while that node is drained, requests that it matches are rejected (%s)",
				w.Name, where, n.Name, joinNames(w.Resources)),
			Remedy: fmt.Sprintf("Run at least two replicas behind Service %s/%s, on different nodes.", b.Namespace, b.Service),
		}
		switch {
		case matchesPods(w):
			// It rejects its own new pod only if nothing excludes that pod. With several replicas,
			// a PDB may evict them one at a time.
			f.Severity = Warn
			f.Message = fmt.Sprintf("webhook %s fails closed and %s on %s: while that node is drained, no pod that it matches can be created",
				w.Name, where, n.Name)
			if w.ReachesItself && !w.HasObjectSelector && !w.HasMatchConditions {
				f.Message += ", not even its own"
				if b.Ready == 1 {
					f.Severity = Block
				}
			}
		case matchesRequired(w):
			f.Severity = Warn
		}
		found = append(found, f)
	}
	return found
}

func webhookCAExpired(v *view) []Finding {
	var found []Finding
	for i := range v.s.Webhooks {
		w := &v.s.Webhooks[i]
		f := Finding{
			Severity: Warn,
			Object:   webhookObject(w),
			Remedy:   "Renew the CA bundle in its configuration. Usually cert-manager or the webhook's operator does this.",
		}
		switch left := w.CANotAfter.Sub(v.Now); {
		case w.CAError != "":
			f.Unknown = true
			f.Message = fmt.Sprintf("the CA bundle of webhook %s cannot be parsed: %s", w.Name, w.CAError)
		case w.CANotAfter.IsZero() || left > expiryWarning:
			continue
		case left > 0:
			f.Message = fmt.Sprintf("the CA of webhook %s expires in %s", w.Name, ago(left))
		default:
			f.Message = fmt.Sprintf("the CA of webhook %s expired %s ago", w.Name, ago(-left))
			if w.FailClosed && matchesRequired(w) {
				f.Severity = Block
				f.Message += ": every request that it matches is rejected"
			}
		}
		found = append(found, f)
	}
	return found
}

func webhookReachesSystem(v *view) []Finding {
	var found []Finding
	for i := range v.s.Webhooks {
		w := &v.s.Webhooks[i]
		if !w.FailClosed {
			continue
		}
		add := func(message, remedy string) {
			f := Finding{Object: webhookObject(w), Message: message, Remedy: remedy}
			if w.HasObjectSelector || w.HasMatchConditions {
				f.Severity = Info
				f.Message += "; its objectSelector or matchConditions may exclude them"
			}
			found = append(found, f)
		}
		if len(w.Reaches) > 0 && len(matchedNamespaced(w)) > 0 {
			add(fmt.Sprintf("webhook %s fails closed and matches objects in %s that the control plane needs to start", w.Name, joinNames(w.Reaches)),
				"Exclude the system namespaces with a namespaceSelector: kubernetes.io/metadata.name NotIn [kube-system, kube-node-lease].")
		}
		if outside := matchedClusterScoped(w); len(outside) > 0 {
			add(fmt.Sprintf("webhook %s fails closed and matches cluster-scoped objects that nodes and the control plane need to start: %s",
				w.Name, joinNames(outside)),
				"A namespaceSelector does not exclude these. Remove them from its rules, exclude system users with matchConditions, "+
					"or set failurePolicy: Ignore for them.")
		}
	}
	return found
}

func webhookMatchesExactly(v *view) []Finding {
	var found []Finding
	for i := range v.s.Webhooks {
		w := &v.s.Webhooks[i]
		if w.Equivalent {
			continue
		}
		found = append(found, Finding{
			Object: webhookObject(w),
			Message: fmt.Sprintf("webhook %s has matchPolicy Exact: it does not match requests in API versions that its rules do not name, and the "+
				"upgrade may add such versions",
				w.Name),
			Remedy: "Set matchPolicy: Equivalent in its configuration.",
		})
	}
	return found
}
