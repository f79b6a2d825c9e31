//go:build apiserver

package components

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// journalUID is the part of a mark that differs between two equal upgrades.
var journalUID = regexp.MustCompile(`refit/NAME\.[0-9a-f]+/`)

// state returns everything of a component in the cluster, without what the server adds and without
// its name: its objects, its CRD, Helm's record, and freezes.
func (m *made) state() string {
	m.t.Helper()
	var documents []string
	for _, kind := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "ConfigMap"},
		{Version: "v1", Kind: "ServiceAccount"},
		{Group: "apps", Version: "v1", Kind: "Deployment"},
		{Group: m.name + ".test", Version: "v1", Kind: "Thing"},
	} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		m.eventually("objects are listed", func() error {
			return client.IgnoreNotFound(m.client.List(m.t.Context(), list, client.InNamespace(m.name)))
		})
		for i := range list.Items {
			documents = append(documents, m.stable(&list.Items[i]))
		}
	}
	slices.Sort(documents)
	documents = append(documents, m.definition(), m.record(), m.freezes())
	return journalUID.ReplaceAllString(strings.ReplaceAll(strings.Join(documents, "---\n"), m.name, "NAME"), "refit/NAME.UID/")
}

// stable returns an object without the fields that differ between equal objects.
func (m *made) stable(item *unstructured.Unstructured) string {
	m.t.Helper()
	metadata, _ := item.Object["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
		delete(metadata, field)
	}
	delete(item.Object, "status")
	text, err := yaml.Marshal(item.Object)
	must(m.t, err)
	return string(text)
}

func (m *made) definition() string {
	m.t.Helper()
	var d apiextensionsv1.CustomResourceDefinition
	err := m.client.Get(m.t.Context(), client.ObjectKey{Name: "things." + m.name + ".test"}, &d)
	if err != nil {
		must(m.t, client.IgnoreNotFound(err))
		return "no CRD\n"
	}
	text := fmt.Sprintln("CRD", d.Annotations, d.Status.StoredVersions)
	for _, v := range d.Spec.Versions {
		text += fmt.Sprintln(" ", v.Name, v.Served, v.Storage)
	}
	return text
}

func (m *made) record() string {
	m.t.Helper()
	record, err := m.helm().Newest(m.t.Context())
	if err != nil {
		return err.Error() + "\n"
	}
	text := fmt.Sprintln("Helm", record.Status, record.ChartVersion, record.Values)
	for _, object := range slices.Concat(record.Objects, record.Hooks, record.CRDs) {
		text += fmt.Sprintln(" ", object.Ref, object.Content.Object)
	}
	var records corev1.SecretList
	must(m.t, m.client.List(m.t.Context(), &records, client.InNamespace(m.name), client.MatchingLabels{"owner": "helm"}))
	statuses := map[string]int{}
	for i := range records.Items {
		statuses[records.Items[i].Labels["status"]]++
	}
	delete(statuses, "superseded") // each repeated action adds one
	delete(statuses, "failed")
	return text + fmt.Sprintln(" ", statuses)
}

func (m *made) freezes() string {
	m.t.Helper()
	var policies admissionregistrationv1.ValidatingAdmissionPolicyList
	must(m.t, m.client.List(m.t.Context(), &policies))
	var bindings admissionregistrationv1.ValidatingAdmissionPolicyBindingList
	must(m.t, m.client.List(m.t.Context(), &bindings))
	text := ""
	for i := range policies.Items {
		if policies.Items[i].Name == "refit-freeze-"+m.name {
			text += "frozen\n"
		}
	}
	for i := range bindings.Items {
		if bindings.Items[i].Name == "refit-freeze-"+m.name {
			text += "bound\n"
		}
	}
	return text
}
