package observe

import (
	"reflect"
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
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
		"no selector":                      {nil, true, both},
		"an empty selector":                {&metav1.LabelSelector{}, true, both},
		"kube-system excluded by name":     {notIn("kubernetes.io/metadata.name", "kube-system"), true, both[1:]},
		"only labeled namespaces":          {&metav1.LabelSelector{MatchLabels: map[string]string{"guarded": "yes"}}, true, nil},
		"unknown labels of the namespaces": {&metav1.LabelSelector{MatchLabels: map[string]string{"guarded": "yes"}}, false, both},
	} {
		t.Run(name, func(t *testing.T) {
			obs := newObservation(&Reader{}, "", &meter{})
			for _, namespace := range systemNamespaces {
				if test.known {
					obs.namespaces[namespace] = map[string]string{"kubernetes.io/metadata.name": namespace}
				}
			}
			got := obs.webhookOf(t.Context(), "guard", &admissionregistrationv1.ValidatingWebhook{NamespaceSelector: test.selector})
			if !slices.Equal(got.Reaches, test.want) {
				t.Errorf("it reaches %q, want %q", got.Reaches, test.want)
			}
		})
	}
}

func TestWebhookReachesItself(t *testing.T) {
	istio := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "istio-system", Labels: map[string]string{"kubernetes.io/metadata.name": "istio-system"}}}
	injected := &metav1.LabelSelector{MatchLabels: map[string]string{"istio-injection": "enabled"}}
	for name, test := range map[string]struct {
		selector *metav1.LabelSelector
		objects  []runtime.Object
		want     bool
	}{
		"no selector":                           {nil, []runtime.Object{istio}, true},
		"only labeled namespaces":               {injected, []runtime.Object{istio}, false},
		"unknown labels of its namespace":       {injected, nil, true},
		"a selector that matches its namespace": {&metav1.LabelSelector{MatchLabels: istio.Labels}, []runtime.Object{istio}, true},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(test.objects...)
			obs := newObservation(&Reader{client: client}, "", &meter{})
			w := &admissionregistrationv1.ValidatingWebhook{NamespaceSelector: test.selector, ClientConfig: admissionregistrationv1.WebhookClientConfig{
				Service: &admissionregistrationv1.ServiceReference{Namespace: "istio-system", Name: "istiod"},
			}}
			for range 2 {
				if got := obs.webhookOf(t.Context(), "istio", w); got.ReachesItself != test.want {
					t.Errorf("it reaches itself: %t", got.ReachesItself)
				}
			}
			if requests := len(client.Actions()); requests > 1 {
				t.Errorf("%d requests for one namespace", requests)
			}
		})
	}
}

func TestWebhookRules(t *testing.T) {
	rule := func(scope admissionregistrationv1.ScopeType, operation admissionregistrationv1.OperationType, resources ...string) admissionregistrationv1.RuleWithOperations {
		return admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{operation},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, Resources: resources, Scope: &scope},
		}
	}
	const anywhere, inNamespaces, outside = admissionregistrationv1.AllScopes, admissionregistrationv1.NamespacedScope, admissionregistrationv1.ClusterScope
	for name, test := range map[string]struct {
		rules []admissionregistrationv1.RuleWithOperations
		want  cluster.Webhook
	}{
		"create, update and any operation": {
			[]admissionregistrationv1.RuleWithOperations{
				rule(anywhere, admissionregistrationv1.Create, "pods"), rule(anywhere, admissionregistrationv1.Update, "nodes"),
				rule(anywhere, admissionregistrationv1.OperationAll, "secrets"),
			},
			cluster.Webhook{Resources: []string{"/nodes", "/pods", "/secrets"}},
		},
		"delete and connect": {
			[]admissionregistrationv1.RuleWithOperations{
				rule(anywhere, admissionregistrationv1.Delete, "pods"), rule(anywhere, admissionregistrationv1.Connect, "pods/exec"),
			},
			cluster.Webhook{},
		},
		"namespaced, cluster-scoped, and both": {
			[]admissionregistrationv1.RuleWithOperations{
				rule(inNamespaces, admissionregistrationv1.Create, "*", "pods"), rule(outside, admissionregistrationv1.Create, "nodes", "pods"),
			},
			cluster.Webhook{Resources: []string{"/*", "/nodes", "/pods"}, OnlyNamespaced: []string{"/*"}, OnlyCluster: []string{"/nodes"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got cluster.Webhook
			if addRules(&got, test.rules); !reflect.DeepEqual(got, test.want) {
				t.Errorf("it is %+v, want %+v", got, test.want)
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
			t.Errorf("%s becomes %q, want %q", raw, got, want)
		}
	}
}
