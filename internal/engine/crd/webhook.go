package crd

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Probe returns why the conversion webhook of a CRD does not respond, or nil. The caller passes
// none while the webhook is not deployed yet, and bounds its time by the context.
type Probe func(ctx context.Context, webhook *apiextensionsv1.WebhookConversion) error

// unreachable probes the conversion webhook of a CRD.
func unreachable(ctx context.Context, crd *Definition, probe Probe) []Finding {
	if probe == nil || !usesWebhook(crd) || crd.Spec.Conversion.Webhook == nil || len(crd.Spec.Versions) < 2 {
		return nil
	}
	err := probe(ctx, crd.Spec.Conversion.Webhook)
	if err == nil {
		return nil
	}
	return []Finding{unreachableBecause(err)}
}

func unreachableBecause(err error) Finding {
	return Finding{
		Reason: ConversionUnavailable, Defect: ConversionWebhookUnreachable, Severity: Block, Field: "spec.conversion",
		Message: fmt.Sprintf("the conversion webhook is unreachable, so objects can be read only in the version in which they are stored: %v", err),
	}
}
