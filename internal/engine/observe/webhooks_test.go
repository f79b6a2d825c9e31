package observe

import (
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWebhookReaches(t *testing.T) {
	notIn := func(key string, values ...string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpNotIn, Values: values}}}
	}
	both := systemNamespaces
	for name, test := range map[string]struct {
		selector *metav1.LabelSelector
		known    bool
		want     []string
	}{
		"no selector":                          {nil, true, both},
		"an empty selector":                    {&metav1.LabelSelector{}, true, both},
		"kube-system is left out by its name":  {notIn("kubernetes.io/metadata.name", "kube-system"), true, both[1:]},
		"only namespaces that ask for it":      {&metav1.LabelSelector{MatchLabels: map[string]string{"guarded": "yes"}}, true, nil},
		"the namespaces' labels are not known": {&metav1.LabelSelector{MatchLabels: map[string]string{"guarded": "yes"}}, false, both},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGathering(&Reader{}, "", &meter{})
			for _, namespace := range systemNamespaces {
				if test.known {
					g.namespaces[namespace] = map[string]string{"kubernetes.io/metadata.name": namespace}
				}
			}
			got := g.webhookOf("guard", &admissionregistrationv1.ValidatingWebhook{NamespaceSelector: test.selector})
			if !slices.Equal(got.Reaches, test.want) {
				t.Errorf("it reaches %q, want %q", got.Reaches, test.want)
			}
		})
	}
}

func TestWithoutSecrets(t *testing.T) {
	for raw, want := range map[string]string{
		"https://hooks.example.com:8443/sesame?token=sesame#sesame": "https://hooks.example.com:8443",
		"https://user:sesame@hooks.example.com/":                    "https://hooks.example.com",
		"https://hooks.example.com/%zz":                             "",
	} {
		if got := withoutSecrets(raw); got != want {
			t.Errorf("of %s is kept %q, want %q", raw, got, want)
		}
	}
}
