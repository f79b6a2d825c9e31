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

// needed are the resources in namespaces without which an upgrade does not get on: nodes come back with leases, kubeadm writes config maps, roles and
// addons. Namespaces are among them because namespace selectors look at the labels of a namespace that is written itself.
var needed = map[string][]string{
	"":                          {"configmaps", "events", "namespaces", "pods", "secrets", "serviceaccounts", "services"},
	"apps":                      {"controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"},
	"coordination.k8s.io":       {"leases"},
	"discovery.k8s.io":          {"endpointslices"},
	"rbac.authorization.k8s.io": {"rolebindings", "roles"},
}

// neededOutside are those that are in no namespace, so that no namespace selector leaves them out: nodes register, kubelets ask for certificates,
// kubeadm writes roles, API servers write what they serve and how they share their time.
var neededOutside = map[string][]string{
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

// about says whether a rule of a webhook speaks of a resource. Rules are written as group/resource, "*" stands for all of either. One about a
// subresource (pods/exec, */scale) does not speak of the resource, unless it is about all of them.
func about(rule, group, resource string) bool {
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

// asked lists those of some resources that a webhook is asked about, but for the rules that hold elsewhere.
func asked(w *cluster.Webhook, resources map[string][]string, elsewhere []string) []string {
	var out []string
	for group, names := range resources {
		for _, name := range names {
			if slices.ContainsFunc(w.Resources, func(rule string) bool { return !slices.Contains(elsewhere, rule) && about(rule, group, name) }) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

func aboutPods(w *cluster.Webhook) bool {
	return len(asked(w, map[string][]string{"": {"pods"}}, w.OnlyCluster)) > 0
}

// neededInside and neededBeyond are what the upgrade needs of what a webhook is asked about, in namespaces and outside of any.
func neededInside(w *cluster.Webhook) []string { return asked(w, needed, w.OnlyCluster) }
func neededBeyond(w *cluster.Webhook) []string { return asked(w, neededOutside, w.OnlyNamespaced) }

// aboutNeeded says whether the upgrade needs something that a webhook is asked about.
func aboutNeeded(w *cluster.Webhook) bool { return len(neededInside(w))+len(neededBeyond(w)) > 0 }

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
			f.Remedy = removal(v, w)
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

// removal is how to remove a webhook whose Service is gone. Others of its configuration may well be in use.
func removal(v *view, w *cluster.Webhook) string {
	inUse := slices.ContainsFunc(v.s.Webhooks, func(other cluster.Webhook) bool {
		return other.Configuration == w.Configuration && other.Mutating == w.Mutating && (other.Backend == nil || other.Backend.Found != cluster.No)
	})
	kind, name, _ := strings.Cut(webhookObject(w), " ")
	if inUse {
		return fmt.Sprintf("Take the entry %s out, and leave the others: kubectl edit %s/%s", w.Name, strings.ToLower(kind), name)
	}
	return fmt.Sprintf("Remove what was left behind: kubectl delete %s/%s", strings.ToLower(kind), name)
}

// webhookHasOneReplica is about webhooks whose pods would all be away while one node is drained.
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
			Message: fmt.Sprintf("webhook %s fails closed and %s on %s: while that node is drained, what it is asked about is refused (%s)",
				w.Name, where, n.Name, some(w.Resources)),
			Remedy: fmt.Sprintf("Run two replicas of what is behind Service %s/%s, on two nodes.", b.Namespace, b.Service),
		}
		switch {
		case aboutPods(w):
			// It keeps its own pod from coming back only if nothing leaves that one out. And several may leave one after the other, if a budget holds them.
			f.Severity = Warn
			f.Message = fmt.Sprintf("webhook %s fails closed and %s on %s: while that node is drained, no pod that it is asked about can be created",
				w.Name, where, n.Name)
			if w.ReachesItself && !w.HasObjectSelector && !w.HasMatchConditions {
				f.Message += ", not even its own"
				if b.Ready == 1 {
					f.Severity = Block
				}
			}
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
		if !w.FailClosed {
			continue
		}
		add := func(message, remedy string) {
			f := Finding{Object: webhookObject(w), Message: message, Remedy: remedy}
			if w.HasObjectSelector || w.HasMatchConditions {
				f.Severity = Info
				f.Message += "; its selector or conditions may let these pass"
			}
			found = append(found, f)
		}
		if len(w.Reaches) > 0 && len(neededInside(w)) > 0 {
			add(fmt.Sprintf("webhook %s fails closed and is asked about objects in %s, which the control plane needs to come back", w.Name, some(w.Reaches)),
				"Leave the system's namespaces out with a namespaceSelector: kubernetes.io/metadata.name NotIn [kube-system, kube-node-lease].")
		}
		if outside := neededBeyond(w); len(outside) > 0 {
			add(fmt.Sprintf("webhook %s fails closed and is asked about objects that are in no namespace and that nodes and the control plane need "+
				"to come back: %s", w.Name, some(outside)),
				"A namespaceSelector does not leave these out. Take them out of its rules, let the system pass with matchConditions, "+
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
			Message: fmt.Sprintf("webhook %s has matchPolicy Exact: requests in an API version that its rules do not name pass it by, and the "+
				"upgrade may bring such versions",
				w.Name),
			Remedy: "Set matchPolicy: Equivalent in its configuration.",
		})
	}
	return found
}
