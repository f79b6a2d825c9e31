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
			got := g.webhookOf(t.Context(), "guard", &admissionregistrationv1.ValidatingWebhook{NamespaceSelector: test.selector})
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
		"only namespaces that ask for it":       {injected, []runtime.Object{istio}, false},
		"its namespace's labels are unknown":    {injected, nil, true},
		"a selector that lets its namespace in": {&metav1.LabelSelector{MatchLabels: istio.Labels}, []runtime.Object{istio}, true},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(test.objects...)
			g := newGathering(&Reader{client: client}, "", &meter{})
			w := &admissionregistrationv1.ValidatingWebhook{NamespaceSelector: test.selector, ClientConfig: admissionregistrationv1.WebhookClientConfig{
				Service: &admissionregistrationv1.ServiceReference{Namespace: "istio-system", Name: "istiod"},
			}}
			for range 2 {
				if got := g.webhookOf(t.Context(), "istio", w); got.ReachesItself != test.want {
					t.Errorf("it reaches itself: %t", got.ReachesItself)
				}
			}
			if asked := len(client.Actions()); asked > 1 {
				t.Errorf("one namespace was asked for %d times", asked)
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
		"what is created, changed or anything": {
			[]admissionregistrationv1.RuleWithOperations{
				rule(anywhere, admissionregistrationv1.Create, "pods"), rule(anywhere, admissionregistrationv1.Update, "nodes"),
				rule(anywhere, admissionregistrationv1.OperationAll, "secrets"),
			},
			cluster.Webhook{Resources: []string{"/nodes", "/pods", "/secrets"}},
		},
		"what is deleted or connected to": {
			[]admissionregistrationv1.RuleWithOperations{
				rule(anywhere, admissionregistrationv1.Delete, "pods"), rule(anywhere, admissionregistrationv1.Connect, "pods/exec"),
			},
			cluster.Webhook{},
		},
		"only in namespaces, only outside, and both": {
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
			t.Errorf("of %s is kept %q, want %q", raw, got, want)
		}
	}
}
