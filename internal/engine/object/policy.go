package object

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// controllers are the ServiceAccounts of Kubernetes' own controllers. Without them, garbage
// collection and the deletion of namespaces would wait for the end of the upgrade.
const controllers = "kube-system"

// name returns the name of the objects of a component's freeze, and of a ConfigMap whose creation
// every version of it denies: a dry run of that one shows whether the freeze is lifted.
func name(component string) string { return "refit-freeze-" + component }

// guardName is the name of a second freeze of a component, which a recipe does not have. No
// component has a dot in its name.
func guardName(component string) string { return name(component) + ".guard" }

// probeOf returns the name of a ConfigMap whose creation only this freeze denies: a dry run of it
// shows that the API server applies this policy, and not an older one of the component.
func probeOf(name string, rules []admissionregistrationv1.NamedRuleWithOperations, allowed []string) string {
	sum := sha256.New()
	_ = json.NewEncoder(sum).Encode([]any{rules, allowed}) // neither a hash nor these values fail
	return name + "-" + hex.EncodeToString(sum.Sum(nil)[:4])
}

// policyOf returns the admission policy of a freeze with this name, and its probe. The client that
// upgrades the component is not denied anything. The parameter of the policy is the
// ComponentUpgrade, so that whoever writes orders lifts the freeze without permissions on
// policies.
func policyOf(name, component, client, namespace string, freeze refitv1alpha1.RecipeFreeze) (*admissionregistrationv1.ValidatingAdmissionPolicy, string) {
	var operations []admissionregistrationv1.OperationType
	for _, operation := range freeze.Deny.Operations {
		operations = append(operations, admissionregistrationv1.OperationType(operation))
	}
	var rules []admissionregistrationv1.NamedRuleWithOperations
	for _, denied := range freeze.Deny.Resources {
		resource, group, _ := strings.Cut(denied, ".")
		rules = append(rules, ruleOf(group, resource, operations...))
	}
	allowed := []string{fmt.Sprintf("request.userInfo.username == %q", client)}
	for _, accounts := range append([]string{controllers}, freeze.Except.ServiceAccountsIn...) {
		allowed = append(allowed, fmt.Sprintf("request.userInfo.username.startsWith(%q)", "system:serviceaccount:"+accounts+":"))
	}
	probe := probeOf(name, rules, allowed)
	probes := ruleOf("", "configmaps", admissionregistrationv1.Create)
	probes.ResourceNames = []string{name, probe} // no other ConfigMap waits for the parameter
	rules = append(rules, probes)
	isProbe := fmt.Sprintf("request.namespace == %q && request.name in [%q, %q]", namespace, name, probe)
	return &admissionregistrationv1.ValidatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{refitv1alpha1.LabelFreeze: component}},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    new(admissionregistrationv1.Fail),
			ParamKind:        &admissionregistrationv1.ParamKind{APIVersion: refitv1alpha1.GroupVersion.String(), Kind: "ComponentUpgrade"},
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: rules},
			MatchConditions: []admissionregistrationv1.MatchCondition{
				{Name: "denied", Expression: fmt.Sprintf("request.resource.group == '' ? %s : !(%s)", isProbe, strings.Join(allowed, " || "))},
			},
			Validations: []admissionregistrationv1.Validation{{
				Expression: "has(params.spec.thaw) && params.spec.thaw", Reason: new(metav1.StatusReasonForbidden),
				Message: fmt.Sprintf("component %s is being upgraded: %s of this resource is denied until it ends; `refit status` shows its progress",
					component, strings.Join(slices.Sorted(slices.Values(freeze.Deny.Operations)), ", ")),
			}},
		},
	}, probe
}

func ruleOf(group, resource string, operations ...admissionregistrationv1.OperationType) admissionregistrationv1.NamedRuleWithOperations {
	return admissionregistrationv1.NamedRuleWithOperations{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
		Operations: operations,
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: []string{resource}},
	}}
}

// bindingOf returns the binding that puts the policy into force while the ComponentUpgrade exists.
func bindingOf(name, component string) *admissionregistrationv1.ValidatingAdmissionPolicyBinding {
	return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{refitv1alpha1.LabelFreeze: component}},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        name,
			ParamRef:          &admissionregistrationv1.ParamRef{Name: component, ParameterNotFoundAction: new(admissionregistrationv1.AllowAction)},
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
}
