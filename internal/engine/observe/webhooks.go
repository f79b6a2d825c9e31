package observe

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

const webhooksPerPage = 100

func (g *gathering) readWebhooks(ctx context.Context) error {
	client, options := g.client.AdmissionregistrationV1(), metav1.ListOptions{Limit: webhooksPerPage}
	const group = ".admissionregistration.k8s.io"
	return errors.Join(
		pages(ctx, list("validatingwebhookconfigurations"+group), options, client.ValidatingWebhookConfigurations().List,
			func(page *admissionregistrationv1.ValidatingWebhookConfigurationList) error {
				for i := range page.Items {
					for j := range page.Items[i].Webhooks {
						g.snapshot.Webhooks = append(g.snapshot.Webhooks, g.webhookOf(ctx, page.Items[i].Name, &page.Items[i].Webhooks[j]))
					}
				}
				return nil
			}),
		pages(ctx, list("mutatingwebhookconfigurations"+group), options, client.MutatingWebhookConfigurations().List,
			func(page *admissionregistrationv1.MutatingWebhookConfigurationList) error {
				for i := range page.Items {
					for j := range page.Items[i].Webhooks {
						w := g.webhookOf(ctx, page.Items[i].Name, asValidating(&page.Items[i].Webhooks[j]))
						w.Mutating = true
						g.snapshot.Webhooks = append(g.snapshot.Webhooks, w)
					}
				}
				return nil
			}),
	)
}

// asValidating is what a mutating webhook has in common with a validating one, which is all that is read of it.
func asValidating(w *admissionregistrationv1.MutatingWebhook) *admissionregistrationv1.ValidatingWebhook {
	return &admissionregistrationv1.ValidatingWebhook{
		Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules, FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy,
		NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector, TimeoutSeconds: w.TimeoutSeconds, MatchConditions: w.MatchConditions,
	}
}

func (g *gathering) webhookOf(ctx context.Context, configuration string, w *admissionregistrationv1.ValidatingWebhook) cluster.Webhook {
	// The server fills in what was left out when the object is written, so nil does not occur; if it did, these are the defaults.
	out := cluster.Webhook{
		Configuration: configuration, Name: w.Name,
		FailClosed:        w.FailurePolicy == nil || *w.FailurePolicy == admissionregistrationv1.Fail,
		Equivalent:        w.MatchPolicy == nil || *w.MatchPolicy == admissionregistrationv1.Equivalent,
		HasObjectSelector: w.ObjectSelector != nil && len(w.ObjectSelector.MatchLabels)+len(w.ObjectSelector.MatchExpressions) > 0,

		HasMatchConditions: len(w.MatchConditions) > 0,
	}
	if w.TimeoutSeconds != nil {
		out.TimeoutSec = *w.TimeoutSeconds
	}
	addRules(&out, w.Rules)
	selects, err := metav1.LabelSelectorAsSelector(w.NamespaceSelector)
	if err != nil {
		g.missed(cluster.PartWebhooks, "Webhook "+configuration+"/"+w.Name, err)
	}
	if err != nil || w.NamespaceSelector == nil { // what cannot be understood cannot be said to leave anything out
		selects = labels.Everything()
	}
	for _, namespace := range systemNamespaces {
		if g.reaches(selects, namespace) {
			out.Reaches = append(out.Reaches, namespace)
		}
	}
	if service := w.ClientConfig.Service; service != nil {
		out.Backend = g.backend(service.Namespace, service.Name)
		if !selects.Empty() {
			g.labelsOf(ctx, service.Namespace)
		}
		out.ReachesItself = g.reaches(selects, service.Namespace)
	}
	if w.ClientConfig.URL != nil {
		out.URL = withoutSecrets(*w.ClientConfig.URL)
	}
	if out.CANotAfter, err = lastExpiry(w.ClientConfig.CABundle); err != nil {
		out.CAError = err.Error()
	}
	return out
}

// reaches says whether a webhook's namespace selector lets a namespace in. If the namespace's labels are not known, a selector that is not empty
// cannot be said to leave it out.
func (g *gathering) reaches(selects labels.Selector, namespace string) bool {
	set, known := g.namespaces[namespace]
	return selects.Empty() || !known || selects.Matches(set)
}

// labelsOf reads the labels of a namespace that is none of the system's, once. There are few in which webhooks run, and listing all namespaces
// would need a right that nothing else needs.
func (g *gathering) labelsOf(ctx context.Context, namespace string) {
	if _, known := g.namespaces[namespace]; known || g.unread[namespace] || slices.Contains(systemNamespaces, namespace) {
		return
	}
	found, err := g.client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	if err != nil {
		g.unread[namespace] = true
		g.missed(cluster.PartNamespaces, "Namespace "+namespace, asked(question{"get", "namespace " + namespace, ""}, err))
		return
	}
	g.namespaces[namespace] = labels.Set(found.Labels)
}

// addRules adds what the rules speak of, as group/resource. Only those count that can keep something from being written: a webhook that is asked
// about deletions or connections keeps nothing from coming up.
func addRules(out *cluster.Webhook, rules []admissionregistrationv1.RuleWithOperations) {
	scopes := map[string][]string{}
	for _, r := range rules {
		if !slices.ContainsFunc(r.Operations, writes) {
			continue
		}
		scope := admissionregistrationv1.AllScopes
		if r.Scope != nil {
			scope = *r.Scope
		}
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				scopes[group+"/"+resource] = include(scopes[group+"/"+resource], string(scope))
			}
		}
	}
	for _, resource := range slices.Sorted(maps.Keys(scopes)) {
		out.Resources = append(out.Resources, resource)
		if len(scopes[resource]) > 1 {
			continue
		}
		switch admissionregistrationv1.ScopeType(scopes[resource][0]) {
		case admissionregistrationv1.NamespacedScope:
			out.OnlyNamespaced = append(out.OnlyNamespaced, resource)
		case admissionregistrationv1.ClusterScope:
			out.OnlyCluster = append(out.OnlyCluster, resource)
		case admissionregistrationv1.AllScopes:
		}
	}
}

func writes(operation admissionregistrationv1.OperationType) bool {
	return operation == admissionregistrationv1.OperationAll || operation == admissionregistrationv1.Create || operation == admissionregistrationv1.Update
}

// withoutSecrets is a URL without what may be secret in it: user, password and query, and the path too, in which some services want a token.
func withoutSecrets(raw string) string {
	parsed, err := url.Parse(raw)
	if err != nil {
		return "" // what cannot be taken apart cannot be cleaned
	}
	return (&url.URL{Scheme: parsed.Scheme, Host: parsed.Host}).String()
}
