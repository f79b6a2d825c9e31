package crd

import (
	"bytes"
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// injectors are the annotations that have controllers inject a CA.
var injectors = []string{
	"cert-manager.io/inject-ca-from", "cert-manager.io/inject-ca-from-secret", "cert-manager.io/inject-apiserver-ca",
	"service.beta.openshift.io/inject-cabundle",
}

// clientConfigOf returns how the API server reaches the conversion webhook, or nil.
func clientConfigOf(crd *Definition) *apiextensionsv1.WebhookClientConfig {
	if !usesWebhook(crd) || crd.Spec.Conversion.Webhook == nil {
		return nil
	}
	return crd.Spec.Conversion.Webhook.ClientConfig
}

// dropInjectedCA removes a CA that a controller has injected: by the time of a rollback, it may
// have issued another one, and the API server would refuse the webhook. A CA of the chart stays,
// since Helm restores its certificate as well.
func dropInjectedCA(crd *Definition) {
	if config := clientConfigOf(crd); config != nil && injectsCA(crd) {
		config.CABundle = nil
	}
}

// keepCA gives a definition without a CA of its own that of the live one, if both have the same
// webhook. Without it, conversion would fail until the controller injects it again.
func keepCA(desired, live *Definition) {
	config := clientConfigOf(desired)
	if config == nil {
		return
	}
	placeholder := len(bytes.TrimSpace(config.CABundle)) == 0
	if placeholder {
		config.CABundle = nil
	}
	if !placeholder && !annotatedForCA(desired) {
		return
	}
	if current := clientConfigOf(live); current != nil && sameWebhook(config, current) {
		config.CABundle = current.CABundle
	}
}

// BringsCA reports whether a definition has a CA for its conversion webhook that no controller
// replaces.
func BringsCA(crd *Definition) bool {
	config := clientConfigOf(crd)
	return config != nil && len(bytes.TrimSpace(config.CABundle)) > 0 && !annotatedForCA(crd)
}

func sameWebhook(a, b *apiextensionsv1.WebhookClientConfig) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	for _, config := range []*apiextensionsv1.WebhookClientConfig{a, b} {
		config.CABundle = nil
		if config.Service != nil {
			apiextensionsv1.SetDefaults_ServiceReference(config.Service)
			config.Service.Path = nil
		}
	}
	return apiequality.Semantic.DeepEqual(a, b)
}

// injectsCA reports whether a controller injects the CA of a live CRD: it is annotated for that, or
// a manager has set the CA that has not set the definition itself.
func injectsCA(live *Definition) bool {
	if annotatedForCA(live) {
		return true
	}
	for _, entry := range live.ManagedFields {
		if owns(entry, "f:spec", "f:conversion", "f:webhook", "f:clientConfig", "f:caBundle") && !owns(entry, "f:spec", "f:versions") {
			return true
		}
	}
	return false
}

func annotatedForCA(crd *Definition) bool {
	for _, name := range injectors {
		if crd.Annotations[name] != "" {
			return true
		}
	}
	return false
}

// owns reports whether a field manager owns a field.
func owns(entry metav1.ManagedFieldsEntry, path ...string) bool {
	if entry.FieldsV1 == nil || entry.Subresource != "" {
		return false
	}
	var fields map[string]any
	if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
		return false
	}
	for _, name := range path {
		below, found := fields[name].(map[string]any)
		if !found {
			return false
		}
		fields = below
	}
	return true
}
