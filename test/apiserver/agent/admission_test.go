//go:build apiserver

package agent

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/test/apiserver"
)

// TestF54AdmissionDeniesWritesOfTheUpgrade runs in a cluster where a webhook refuses the objects
// that an API server of another version writes at startup.
func TestF54AdmissionDeniesWritesOfTheUpgrade(t *testing.T) {
	s := apiserver.Start(t, apiserver.Options{})
	client, err := kubernetes.NewForConfig(s.RESTConfig())
	must(t, err)
	denies := httptest.NewTLSServer(http.HandlerFunc(deny))
	t.Cleanup(denies.Close)
	gone := httptest.NewTLSServer(http.HandlerFunc(deny))
	gone.Close()
	must(t, kubeadm.CheckAdmission(t.Context(), client))
	for situation, tt := range map[string]struct {
		hook  *admissionregistrationv1.ValidatingWebhookConfiguration
		words []string
	}{
		"a webhook that denies roles":             {webhook(denies, "rbac.authorization.k8s.io", "clusterroles"), []string{"ClusterRole ", "no, never"}},
		"a webhook that denies bindings":          {webhook(denies, "rbac.authorization.k8s.io", "clusterrolebindings"), []string{"ClusterRoleBinding ", "no, never"}},
		"a webhook that denies pods":              {webhook(denies, "", "pods"), []string{"a Pod in kube-system", "no, never"}},
		"a webhook about roles that is not there": {webhook(gone, "rbac.authorization.k8s.io", "clusterroles"), []string{"ClusterRole ", "failed calling webhook"}},
	} {
		t.Run(situation, func(t *testing.T) {
			hooks := client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
			_, err := hooks.Create(t.Context(), tt.hook, metav1.CreateOptions{})
			must(t, err)
			err = answers(t, client, true)
			failure, is := errors.AsType[*node.Failure](err)
			if !is || failure.Reason != "AdmissionRefuses" || failure.Remedy == "" {
				t.Fatalf("it fails with %v", err)
			}
			for _, word := range append(tt.words, "refuses.example.com") {
				if !strings.Contains(failure.Text(), word) {
					t.Errorf("%q does not tell of %q", failure.Text(), word)
				}
			}
			must(t, hooks.Delete(t.Context(), tt.hook.Name, metav1.DeleteOptions{}))
			must(t, answers(t, client, false))
		})
	}
	pods, err := client.CoreV1().Pods(metav1.NamespaceSystem).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	if len(pods.Items) > 0 {
		t.Errorf("%d pods were made", len(pods.Items))
	}
}

// answers retries until a request is refused, or until none is: an API server learns of a webhook
// with a delay.
func answers(t *testing.T, client kubernetes.Interface, refused bool) (err error) {
	t.Helper()
	for deadline := time.Now().Add(checkTimeout); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err = kubeadm.CheckAdmission(t.Context(), client); (err != nil) == refused {
			return err
		}
	}
	return err
}

func deny(w http.ResponseWriter, r *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: "no, never"}}
	_ = json.NewEncoder(w).Encode(review) // the client has disconnected
}

func webhook(server *httptest.Server, group, resource string) *admissionregistrationv1.ValidatingWebhookConfiguration {
	fail, none, seconds := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone, int32(5)
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "refuses"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "refuses.example.com", AdmissionReviewVersions: []string{"v1"}, SideEffects: &none, FailurePolicy: &fail, TimeoutSeconds: &seconds,
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL:      &server.URL,
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: []string{resource}},
			}},
		}},
	}
}
