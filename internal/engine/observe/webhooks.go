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

func (obs *observation) readWebhooks(ctx context.Context) error {
	client, options := obs.client.AdmissionregistrationV1(), metav1.ListOptions{Limit: webhooksPerPage}
	const group = ".admissionregistration.k8s.io"
	return errors.Join(
		pages(ctx, list("validatingwebhookconfigurations"+group), options, client.ValidatingWebhookConfigurations().List,
			func(page *admissionregistrationv1.ValidatingWebhookConfigurationList) error {
				for i := range page.Items {
					for j := range page.Items[i].Webhooks {
						obs.snapshot.Webhooks = append(obs.snapshot.Webhooks, obs.webhookOf(ctx, page.Items[i].Name, &page.Items[i].Webhooks[j]))
					}
				}
				return nil
			}),
		pages(ctx, list("mutatingwebhookconfigurations"+group), options, client.MutatingWebhookConfigurations().List,
			func(page *admissionregistrationv1.MutatingWebhookConfigurationList) error {
				for i := range page.Items {
					for j := range page.Items[i].Webhooks {
						w := obs.webhookOf(ctx, page.Items[i].Name, asValidating(&page.Items[i].Webhooks[j]))
						w.Mutating = true
						obs.snapshot.Webhooks = append(obs.snapshot.Webhooks, w)
					}
				}
				return nil
			}),
	)
}

// asValidating returns the fields that a mutating webhook shares with a validating one. No other
// fields are read.
func asValidating(w *admissionregistrationv1.MutatingWebhook) *admissionregistrationv1.ValidatingWebhook {
	return &admissionregistrationv1.ValidatingWebhook{
		Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules, FailurePolicy: w.FailurePolicy, MatchPolicy: w.MatchPolicy,
		NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector, TimeoutSeconds: w.TimeoutSeconds, MatchConditions: w.MatchConditions,
	}
}

func (obs *observation) webhookOf(ctx context.Context, configuration string, w *admissionregistrationv1.ValidatingWebhook) cluster.Webhook {
	// The server sets the defaults of missing fields, so nil should not occur; these are the same
	// defaults.
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
		obs.addGap(cluster.PartWebhooks, "Webhook "+configuration+"/"+w.Name, err)
	}
	if err != nil || w.NamespaceSelector == nil { // an invalid selector may match everything
		selects = labels.Everything()
	}
	for _, namespace := range systemNamespaces {
		if obs.reaches(selects, namespace) {
			out.Reaches = append(out.Reaches, namespace)
		}
	}
	if service := w.ClientConfig.Service; service != nil {
		out.Backend = obs.backend(service.Namespace, service.Name)
		if !selects.Empty() {
			obs.readLabels(ctx, service.Namespace)
		}
		out.ReachesItself = obs.reaches(selects, service.Namespace)
	}
	if w.ClientConfig.URL != nil {
		out.URL = withoutSecrets(*w.ClientConfig.URL)
	}
	if out.CANotAfter, err = lastExpiry(w.ClientConfig.CABundle); err != nil {
		out.CAError = err.Error()
	}
	return out
}

// reaches reports whether a namespace selector may match a namespace. If its labels are unknown,
// every selector may match.
func (obs *observation) reaches(selects labels.Selector, namespace string) bool {
	set, known := obs.namespaces[namespace]
	return selects.Empty() || !known || selects.Matches(set)
}

// readLabels reads the labels of another namespace, once. Webhooks run in few namespaces, and
// listing all would require a permission that nothing else needs.
func (obs *observation) readLabels(ctx context.Context, namespace string) {
	if _, known := obs.namespaces[namespace]; known || obs.unread[namespace] || slices.Contains(systemNamespaces, namespace) {
		return
	}
	found, err := obs.client.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	if err != nil {
		obs.unread[namespace] = true
		obs.addGap(cluster.PartNamespaces, "Namespace "+namespace, requestFailed(apiRequest{"get", "namespace " + namespace, ""}, err))
		return
	}
	obs.namespaces[namespace] = labels.Set(found.Labels)
}

// addRules adds the resources of rules, as group/resource. Only rules about writes count: a webhook
// for deletions or connections does not keep anything from starting.
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

// withoutSecrets returns a URL without user, password, query and path, which may contain secrets.
func withoutSecrets(raw string) string {
	parsed, err := url.Parse(raw)
	if err != nil {
		return "" // an invalid URL cannot be cleaned
	}
	return (&url.URL{Scheme: parsed.Scheme, Host: parsed.Host}).String()
}
