package apiserver

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

var errNotRefused = errors.New("the canary is not refused yet")

// waitPolicies waits until all existing admission policies are enforced. The server enforces a
// policy with a delay and does not report when it does. But it loads policies in the order of
// creation: once a canary policy, created last, refuses a request, the others are enforced, too.
func (s *Server) waitPolicies(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(s.harness)
	if err != nil {
		return err
	}
	policies, bindings := client.AdmissionregistrationV1().ValidatingAdmissionPolicies(), client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	// The name is unique: the previous canary may still be in effect.
	name := "canary-" + strings.ToLower(rand.Text())
	if _, err := policies.Create(ctx, canaryPolicy(name), metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := bindings.Create(ctx, canaryBinding(name), metav1.CreateOptions{}); err != nil {
		return err
	}
	waited := poll(ctx, settleDeadline, "admission policies to be enforced", func() error {
		canary := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
		_, err := client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(ctx, canary, dry)
		switch {
		case err == nil:
			return errNotRefused
		case strings.Contains(err.Error(), name+refused):
			return nil
		default:
			return err
		}
	})
	return errors.Join(waited,
		bindings.Delete(ctx, name, metav1.DeleteOptions{}), policies.Delete(ctx, name, metav1.DeleteOptions{}))
}

// refused is the suffix of a canary's message.
const refused = " is refused"

// canaryPolicy refuses the ConfigMap that has its own name.
func canaryPolicy(name string) *admissionregistrationv1.ValidatingAdmissionPolicy {
	return &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
					RuleWithOperations: admissionregistrationv1.RuleWithOperations{
						Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
						Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
					},
				}},
			},
			Validations: []admissionregistrationv1.Validation{{
				Expression: "object.metadata.name != '" + name + "'", Message: name + refused,
			}},
		},
	}
}

func canaryBinding(policy string) *admissionregistrationv1.ValidatingAdmissionPolicyBinding {
	return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
}
