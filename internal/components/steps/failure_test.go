package steps

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/internal/engine/object"
	"github.com/refit-dev/refit/internal/upgrade/component"
)

func TestRemediesThatEndAFailure(t *testing.T) {
	paused := &refitv1alpha1.ClusterUpgrade{}
	paused.Spec.Paused = true
	failure := FailureOf(&unpermittedError{*component.Permission(refitv1alpha1.Operation{}, paused)})
	if !strings.Contains(failure.Remedy, "refit resume") || !strings.Contains(failure.Remedy, "refit retry") {
		t.Errorf("paused: %q", failure.Remedy)
	}
	if failure := FailureOf(helm.ErrNoRelease); failure.Reason != "HelmReleaseMissing" || !strings.Contains(failure.Remedy, "ComponentUpgrade") {
		t.Errorf("without a Helm release: %+v", failure)
	}
}

func TestTheFailureOfAWorkloadNamesTheProblemOfItsPodAndNoPodToDescribe(t *testing.T) {
	const problem = "Pod shop/cart-1: ImagePullBackOff: registry.example/cart:2: not found"
	failure := FailureOf(&object.NotReadyError{Object: "Deployment shop/cart", Status: "InProgress", Pod: problem})
	if !strings.Contains(failure.Message, problem) || strings.Contains(failure.Remedy, "describe") {
		t.Errorf("the failure is %+v", failure)
	}
	failure = FailureOf(&object.NotReadyError{Object: "Deployment shop/cart", Status: "InProgress"})
	if !strings.Contains(failure.Remedy, "kubectl get events") {
		t.Errorf("without a known problem, the remedy is %q", failure.Remedy)
	}
}

// TestAFieldThatAnotherManagerHasSet: nothing is gained by a repetition.
func TestAFieldThatAnotherManagerHasSet(t *testing.T) {
	refused := apierrors.NewApplyConflict([]metav1.StatusCause{{
		Type: metav1.CauseTypeFieldManagerConflict, Message: `conflict with "kubectl-scale" using apps/v1`, Field: ".spec.replicas",
	}}, `Apply failed with 1 conflict: conflict with "kubectl-scale" using apps/v1: .spec.replicas`)
	err := fmt.Errorf("cannot upgrade the release: %w", fmt.Errorf("conflict occurred while applying object shop/cart apps/v1, Kind=Deployment: %w", refused))
	if Transient(err) {
		t.Error("it is repeated")
	}
	failure := FailureOf(err)
	if failure.Reason != "FieldConflict" || !strings.Contains(failure.Remedy, "Give .spec.replicas of Deployment shop/cart the value of the chart, and stop kubectl-scale ") {
		t.Errorf("the failure is %+v", failure)
	}
	r := runOf("1")
	r.secret = []string{"replicas"}
	if failure = FailureOf(r.HideIn(err)); strings.Contains(failure.Remedy+failure.Message, "replicas") || !strings.Contains(failure.Remedy, "Deployment shop/cart") {
		t.Errorf("with a secret in the field: %+v", failure)
	}
}

// TestAWebhookThatIsDown: the API server is available, and waiting for it does not help.
func TestAWebhookThatIsDown(t *testing.T) {
	err := fmt.Errorf("cannot upgrade the release: %w", apierrors.NewInternalError(
		errors.New(`failed calling webhook "pods.mesh.test": failed to call webhook: Post "https://mesh.mesh.svc:443/pods": no endpoints available for service "mesh"`)))
	if !Transient(err) {
		t.Error("it is not repeated")
	}
	failure := FailureOf(err)
	if failure.Reason != "WebhookUnavailable" || !strings.Contains(failure.Message, "pods.mesh.test") || strings.Contains(failure.Remedy, "API server") {
		t.Errorf("the failure is %+v", failure)
	}
}

// TestValuesOfSecretsAreNotInFailures: the API server quotes what it refuses.
func TestValuesOfSecretsAreNotInFailures(t *testing.T) {
	refused := errors.New(`.stringData.pin: expected string, got &value.valueUnstructured{Value:12345}, "hunter2", "hunter2-old", aHVudGVyMg==; ` +
		strings.Repeat("x", 160) + " hunter2")
	r := runOf("1")
	r.secret = []string{"hunter2", "12345", "hunter2-old"}
	err := r.HideIn(fmt.Errorf("cannot upgrade: %w", refused))
	failure := FailureOf(err)
	for _, secret := range []string{"hunter2", "12345", "old", "aHVud", "hunte"} {
		if strings.Contains(failure.Message, secret) || strings.Contains(r.Hide(refused.Error()), secret) {
			t.Errorf("%q is in %q", secret, failure.Message)
		}
	}
	if !strings.Contains(failure.Message, "expected string") || !errors.Is(err, refused) {
		t.Errorf("the failure is %+v", failure)
	}
	if err := r.HideIn(nil); err != nil {
		t.Error(err)
	}
}

// TestQuotedValuesOfSecrets: the API server quotes values as Go or as JSON does.
func TestQuotedValuesOfSecrets(t *testing.T) {
	for _, secret := range []string{`pa"ss`, `pa\ss`, "user: a\npassword: b", "pa<ss&", "p\u00e4ss\x00"} {
		r := runOf("1")
		r.secret = []string{secret}
		text, err := json.Marshal(map[string]any{"password": secret})
		if err != nil {
			t.Fatal(err)
		}
		for _, detail := range []string{
			field.Invalid(field.NewPath("spec", "pin"), secret, "it is refused").Error(),
			field.Invalid(field.NewPath("spec", "pin"), map[string]any{"password": secret}, "it is refused").Error(),
			fmt.Sprintf("%#v", map[string]any{"password": secret}), fmt.Sprintf("%+q", secret), string(text), fmt.Sprintf("%q", text), secret,
		} {
			if hidden := r.Hide(detail); !strings.Contains(hidden, component.Masked) {
				t.Errorf("%q is not hidden in %s", secret, hidden)
			}
		}
	}
	r := runOf("1")
	r.secret = []string{"hunter2\n", "a\n\n\n"}
	if hidden := r.Hide("a: hunter2, aHVudGVyMg==, aHVudGVyMgo="); hidden != "a: (masked), (masked), (masked)" {
		t.Errorf("without white space: %s", hidden)
	}
}
