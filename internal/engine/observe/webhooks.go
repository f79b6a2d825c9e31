package observe

import (
	"context"
	"errors"
	"net/url"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
						g.snapshot.Webhooks = append(g.snapshot.Webhooks, g.webhookOf(page.Items[i].Name, &page.Items[i].Webhooks[j]))
					}
				}
				return nil
			}),
		pages(ctx, list("mutatingwebhookconfigurations"+group), options, client.MutatingWebhookConfigurations().List,
			func(page *admissionregistrationv1.MutatingWebhookConfigurationList) error {
				for i := range page.Items {
					for j := range page.Items[i].Webhooks {
						w := g.webhookOf(page.Items[i].Name, asValidating(&page.Items[i].Webhooks[j]))
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

func (g *gathering) webhookOf(configuration string, w *admissionregistrationv1.ValidatingWebhook) cluster.Webhook {
	// The server fills in what was left out when the object is written, so nil does not occur; if it did, these are the defaults.
	out := cluster.Webhook{
		Configuration: configuration, Name: w.Name,
		FailClosed:        w.FailurePolicy == nil || *w.FailurePolicy == admissionregistrationv1.Fail,
		Equivalent:        w.MatchPolicy == nil || *w.MatchPolicy == admissionregistrationv1.Equivalent,
		Resources:         resourcesAsked(w.Rules),
		HasObjectSelector: w.ObjectSelector != nil && len(w.ObjectSelector.MatchLabels)+len(w.ObjectSelector.MatchExpressions) > 0,

		HasMatchConditions: len(w.MatchConditions) > 0,
	}
	if w.TimeoutSeconds != nil {
		out.TimeoutSec = *w.TimeoutSeconds
	}
	for _, namespace := range systemNamespaces {
		if g.reaches(configuration, w, namespace) {
			out.Reaches = append(out.Reaches, namespace)
		}
	}
	if service := w.ClientConfig.Service; service != nil {
		out.Backend = g.backend(service.Namespace, service.Name)
	}
	if w.ClientConfig.URL != nil {
		out.URL = withoutSecrets(*w.ClientConfig.URL)
	}
	var err error
	if out.CANotAfter, err = lastExpiry(w.ClientConfig.CABundle); err != nil {
		out.CAError = err.Error()
	}
	return out
}

// reaches says whether a webhook's namespace selector lets a namespace in. If the namespace's labels are not known, a selector that is not empty
// cannot be said to leave it out.
func (g *gathering) reaches(configuration string, w *admissionregistrationv1.ValidatingWebhook, namespace string) bool {
	parsed, err := metav1.LabelSelectorAsSelector(w.NamespaceSelector)
	if err != nil {
		g.missed(cluster.PartWebhooks, "Webhook "+configuration+"/"+w.Name, err)
		return true
	}
	if w.NamespaceSelector == nil || parsed.Empty() {
		return true
	}
	set, known := g.namespaces[namespace]
	return !known || parsed.Matches(set)
}

// resourcesAsked are what the rules speak of, as group/resource.
func resourcesAsked(rules []admissionregistrationv1.RuleWithOperations) []string {
	var out []string
	for _, r := range rules {
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				out = include(out, group+"/"+resource)
			}
		}
	}
	slices.Sort(out)
	return out
}

// withoutSecrets is a URL without what may be secret in it: user, password and query, and the path too, in which some services want a token.
func withoutSecrets(raw string) string {
	parsed, err := url.Parse(raw)
	if err != nil {
		return "" // what cannot be taken apart cannot be cleaned
	}
	return (&url.URL{Scheme: parsed.Scheme, Host: parsed.Host}).String()
}
