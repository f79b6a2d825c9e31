package preflight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// soon is how far ahead an expiry is worth a warning.
const soon = 30 * 24 * time.Hour

// needed are the core resources without which an upgrade does not get on: nodes come back with leases, kubeadm writes config maps, roles and addons.
var needed = map[string][]string{
	"":                             {"configmaps", "events", "namespaces", "nodes", "pods", "secrets", "serviceaccounts", "services"},
	"apps":                         {"controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"},
	"coordination.k8s.io":          {"leases"},
	"discovery.k8s.io":             {"endpointslices"},
	"certificates.k8s.io":          {"certificatesigningrequests"},
	"rbac.authorization.k8s.io":    {"clusterrolebindings", "clusterroles", "rolebindings", "roles"},
	"refit.dev":                    {"clusterupgrades", "nodereports", "nodeupgrades", "releases"},
	"admissionregistration.k8s.io": {"validatingadmissionpolicies", "validatingadmissionpolicybindings"},
}

func webhookObject(w *cluster.Webhook) string {
	if w.Mutating {
		return "MutatingWebhookConfiguration " + w.Configuration
	}
	return "ValidatingWebhookConfiguration " + w.Configuration
}

// about says whether a webhook is asked about a resource. Rules are written as group/resource, "*" stands for all of either.
func about(w *cluster.Webhook, group, resource string) bool {
	return slices.ContainsFunc(w.Resources, func(rule string) bool {
		ruleGroup, rest, slash := strings.Cut(rule, "/")
		if !slash {
			ruleGroup, rest = "", rule
			if rule == "*" {
				ruleGroup = "*"
			}
		}
		name, _, _ := strings.Cut(rest, "/")
		return (ruleGroup == "*" || ruleGroup == group) && (name == "*" || name == resource)
	})
}

func aboutPods(w *cluster.Webhook) bool { return about(w, "", "pods") }

// aboutNeeded says whether the upgrade needs something that a webhook is asked about.
func aboutNeeded(w *cluster.Webhook) bool {
	for group, resources := range needed {
		if slices.ContainsFunc(resources, func(resource string) bool { return about(w, group, resource) }) {
			return true
		}
	}
	return false
}

func webhookUnreachable(v *view) []Finding {
	var found []Finding
	for i := range v.s.Webhooks {
		w := &v.s.Webhooks[i]
		if !w.FailClosed {
			continue
		}
		f := Finding{Severity: Warn, Object: webhookObject(w)}
		if aboutNeeded(w) {
			f.Severity = Block
		}
		switch b := w.Backend; {
		case b == nil && w.URL != "":
			if f.Severity != Block {
				continue
			}
			f.Severity, f.Unknown = Warn, true
			f.Message = fmt.Sprintf("webhook %s stands outside the cluster at %s and fails closed: whether it answers cannot be seen from here", w.Name, w.URL)
			f.Remedy = "Make sure that it answers while nodes are upgraded."
		case b == nil:
			continue
		case b.Found == cluster.Unknown:
			f.Unknown = true
			f.Message = fmt.Sprintf("whether anything answers for webhook %s (Service %s/%s) is not known, and it fails closed", w.Name, b.Namespace, b.Service)
			f.Remedy = fmt.Sprintf("Look yourself: kubectl -n %s get endpointslices -l kubernetes.io/service-name=%s", b.Namespace, b.Service)
		case b.Found == cluster.No:
			f.Message = fmt.Sprintf("webhook %s fails closed and its Service %s/%s does not exist: every request that it is asked about is refused",
				w.Name, b.Namespace, b.Service)
			f.Remedy = fmt.Sprintf("Remove what was left behind: kubectl delete %s", strings.ToLower(strings.Replace(webhookObject(w), " ", "/", 1)))
		case b.Ready <= 0:
			f.Message = fmt.Sprintf("webhook %s fails closed and no pod behind Service %s/%s is ready: every request that it is asked about is refused",
				w.Name, b.Namespace, b.Service)
			f.Remedy = fmt.Sprintf("Bring its pods back: kubectl -n %s get pods", b.Namespace)
		default:
			continue
		}
		found = append(found, f)
	}
	return found
}

// webhookHasOneReplica is about webhooks whose pods would all be away while one node is drained.
func webhookHasOneReplica(v *view) []Finding {
	var found []Finding
	for i := range v.s.Webhooks {
		w := &v.s.Webhooks[i]
		b := w.Backend
		if !w.FailClosed || b == nil || b.Found != cluster.Yes || b.Ready <= 0 || len(b.Nodes) != 1 {
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
			Message: fmt.Sprintf("webhook %s fails closed and %s on %s: while that node is drained, what it is asked about is refused (%s)",
				w.Name, where, n.Name, some(w.Resources)),
			Remedy: fmt.Sprintf("Run two replicas of what is behind Service %s/%s, on two nodes.", b.Namespace, b.Service),
		}
		switch {
		case aboutPods(w):
			f.Severity = Block
			// Several pods may leave one after the other, if a budget holds them.
			if b.Ready > 1 {
				f.Severity = Warn
			}
			f.Message = fmt.Sprintf("webhook %s fails closed and %s on %s: while that node is drained, no pod can be created, perhaps not even its own",
				w.Name, where, n.Name)
		case aboutNeeded(w):
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
			Remedy:   "Renew the CA bundle in its configuration; cert-manager or the webhook's own operator usually does.",
		}
		switch left := w.CANotAfter.Sub(v.Now); {
		case w.CAError != "":
			f.Unknown = true
			f.Message = fmt.Sprintf("the CA bundle of webhook %s cannot be read: %s", w.Name, w.CAError)
		case w.CANotAfter.IsZero() || left > soon:
			continue
		case left > 0:
			f.Message = fmt.Sprintf("the CA of webhook %s expires in %s", w.Name, ago(left))
		default:
			f.Message = fmt.Sprintf("the CA of webhook %s expired %s ago", w.Name, ago(-left))
			if w.FailClosed && aboutNeeded(w) {
				f.Severity = Block
				f.Message += ": every request that it is asked about is refused"
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
		if !w.FailClosed || len(w.Reaches) == 0 || !aboutNeeded(w) {
			continue
		}
		f := Finding{
			Object: webhookObject(w),
			Message: fmt.Sprintf("webhook %s fails closed and is asked about objects in %s, which the control plane needs to come back",
				w.Name, some(w.Reaches)),
			Remedy: "Leave the system's namespaces out with a namespaceSelector: kubernetes.io/metadata.name NotIn [kube-system, kube-node-lease].",
		}
		if w.HasObjectSelector || w.HasMatchConditions {
			f.Severity = Info
			f.Message += "; its selector or conditions may let these pass"
		}
		found = append(found, f)
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
			Message: fmt.Sprintf("webhook %s has matchPolicy Exact: requests in an API version that its rules do not name pass it by, and the "+
				"upgrade may bring such versions",
				w.Name),
			Remedy: "Set matchPolicy: Equivalent in its configuration.",
		})
	}
	return found
}
