package crd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/refit-dev/refit/internal/engine/crd/crdtest"
)

func caseOf(t *testing.T, folder, name string) crdtest.Case {
	t.Helper()
	for _, c := range corpus(t, folder) {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("the corpus has no %s", name)
	return crdtest.Case{}
}

func TestUnreachableConversionWebhookBlocks(t *testing.T) {
	c := change(t, "conversion-webhook")
	for name, test := range map[string]struct {
		change Change
		probe  Probe
		want   bool
	}{
		"unreachable": {c, func(context.Context, *apiextensionsv1.WebhookConversion) error {
			return errors.New("connection refused")
		}, true},
		"reachable":          {c, func(context.Context, *apiextensionsv1.WebhookConversion) error { return nil }, false},
		"not deployed yet":   {c, nil, false},
		"no webhook is used": {change(t, "same-storage-version"), func(context.Context, *apiextensionsv1.WebhookConversion) error { return errors.New("probed") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			report, err := Judge(t.Context(), test.change, test.probe, each(nil))
			if err != nil {
				t.Fatal(err)
			}
			if report.Blocks() != test.want {
				t.Errorf("the change blocks: %v", report.Findings)
			}
			if test.want {
				f := report.Findings[len(report.Findings)-1]
				if f.Defect != ConversionWebhookUnreachable || !strings.HasSuffix(f.Message, ": connection refused") {
					t.Errorf("the finding is %+v", f)
				}
			}
		})
	}
}

func TestObjectsThatTheOldCRDRefusesDoNotBlock(t *testing.T) {
	c := caseOf(t, "defects", "enum-narrowed")
	stricter := Change{Old: c.New, New: c.New.DeepCopy()}
	stricter.New.Spec.Versions[0].Schema.OpenAPIV3Schema.Description = "changed"
	report, err := Judge(t.Context(), stricter, nil, each(c.Objects))
	if err != nil || report.Total != 0 {
		t.Errorf("%v, %+v", err, report.Findings)
	}
}

func TestReportIsBounded(t *testing.T) {
	c := caseOf(t, "defects", "field-moved-and-required")
	many := func(yield func(*unstructured.Unstructured, error) bool) {
		for i := range 1000 {
			object := c.Objects[0].DeepCopy()
			object.SetName(fmt.Sprintf("a%d", i))
			if !yield(object, nil) {
				return
			}
		}
	}
	report, err := Judge(t.Context(), Change{Old: c.Old, New: c.New}, nil, many)
	if err != nil {
		t.Fatal(err)
	}
	if report.Total != 2000 || report.Objects != 1000 || report.Refused != 1000 || report.Dropping != 1000 {
		t.Errorf("the report counts %+v", report)
	}
	perDefect := map[Defect]int{}
	for _, f := range report.Findings {
		perDefect[f.Defect]++
	}
	if len(report.Findings) != 2*maxPerField || perDefect[FieldDropped] != maxPerField || perDefect[RequiredFieldMissing] != maxPerField {
		t.Errorf("the report has %v", perDefect)
	}
}

func TestReportHasAtMostFiftyFindings(t *testing.T) {
	var r Report
	for i := range 2 * maxFindings {
		r.add(Finding{Object: "a", Field: fmt.Sprintf("spec.f%d", i), Message: strings.Repeat("ü", maxMessageBytes)})
		r.addStatusField(fmt.Sprintf("status.f%d", i))
	}
	if len(r.Findings) != maxFindings || r.Total != 2*maxFindings || len(r.StatusFields) != maxFindings {
		t.Errorf("%d findings of %d, %d fields of status", len(r.Findings), r.Total, len(r.StatusFields))
	}
	if m := r.Findings[0].Message; len(m) > maxMessageBytes+len("…") || strings.ToValidUTF8(m, "?") != m {
		t.Errorf("the message has %d bytes", len(m))
	}
}

func TestDroppedStatusFieldsAreReportedApart(t *testing.T) {
	report := judgeCase(t, caseOf(t, "harmless", "status-field-removed"))
	if len(report.StatusFields) != 1 || report.StatusFields[0] != "status.phase" || report.Total != 0 {
		t.Errorf("the report is %+v", report)
	}
}

func TestReadErrorEndsTheJudgement(t *testing.T) {
	broken := func(yield func(*unstructured.Unstructured, error) bool) { yield(nil, errors.New("connection lost")) }
	_, err := Judge(t.Context(), change(t, "same-storage-version"), nil, broken)
	if err == nil || !strings.HasSuffix(err.Error(), ": connection lost") {
		t.Errorf("the error is %v", err)
	}
}

func TestCanceledJudgementReturnsNoReport(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := caseOf(t, "harmless", "field-added")
	if report, err := Judge(ctx, Change{Old: c.Old, New: c.New}, nil, each(c.Objects)); !errors.Is(err, context.Canceled) || report != nil {
		t.Errorf("%v, %v", report, err)
	}
}

func TestMessagesHoldNoValues(t *testing.T) {
	for _, name := range []string{
		"format-date-time-added", "format-ipv4-added", "enum-narrowed", "pattern-added", "integer-becomes-string", "max-length-lowered", "list-becomes-set-with-duplicates",
	} {
		c := caseOf(t, "defects", name)
		c.Objects[0].Object["spec"] = replaced(c.Objects[0].Object["spec"])
		for _, f := range judgeCase(t, c).Findings {
			if strings.Contains(f.Message, secret) {
				t.Errorf("%s: the message holds the value: %s", name, f.Message)
			}
		}
	}
}

const secret = "S3cret-value"

// replaced replaces each text of a value.
func replaced(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = replaced(v[key])
		}
	case []any:
		for i := range v {
			v[i] = replaced(v[i])
		}
	case string:
		return secret
	}
	return value
}

func TestJudgementLeavesObjectsAlone(t *testing.T) {
	for _, c := range corpus(t, "defects") {
		before := make([]*unstructured.Unstructured, len(c.Objects))
		for i := range c.Objects {
			before[i] = c.Objects[i].DeepCopy()
		}
		judgeCase(t, c)
		for i := range before {
			if fmt.Sprint(before[i].Object) != fmt.Sprint(c.Objects[i].Object) {
				t.Errorf("%s: the object changed from %v to %v", c.Name, before[i].Object, c.Objects[i].Object)
			}
		}
	}
}

func TestManifestsAreJudgedLikeLiveDefinitions(t *testing.T) {
	for _, c := range append(corpus(t, "harmless"), corpus(t, "defects")...) {
		if len(c.Old.Status.StoredVersions) > 1 {
			continue // a manifest does not have them
		}
		c.Old.ResourceVersion, c.Old.Status = "", apiextensionsv1.CustomResourceDefinitionStatus{}
		c.New.ResourceVersion, c.New.Status = "", apiextensionsv1.CustomResourceDefinitionStatus{}
		t.Run(c.Name, func(t *testing.T) { compareFindings(t, c.Findings, judgeCase(t, c).Findings) })
	}
}
