package steps

import (
	"errors"
	"fmt"
	"strings"
	"testing"

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
