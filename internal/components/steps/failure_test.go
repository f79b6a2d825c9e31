package steps

import (
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/helm"
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
