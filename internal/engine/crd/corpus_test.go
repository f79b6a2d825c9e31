package crd

import (
	"iter"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/refit-dev/refit/internal/engine/crd/crdtest"
)

func TestDefectsAreFound(t *testing.T) {
	cases := corpus(t, "defects")
	if len(cases) < 30 {
		t.Errorf("the corpus has %d defects", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			report := judgeCase(t, c)
			if !report.Blocks() {
				t.Errorf("the change is not blocked: %s", c.Comment)
			}
			compareFindings(t, c.Findings, report.Findings)
		})
	}
}

func TestHarmlessChangesAreNotBlocked(t *testing.T) {
	cases := corpus(t, "harmless")
	if len(cases) < 15 {
		t.Errorf("the corpus has %d harmless changes", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			report := judgeCase(t, c)
			if report.Blocks() {
				t.Errorf("the change is blocked: %s", c.Comment)
			}
			compareFindings(t, c.Findings, report.Findings)
		})
	}
}

func corpus(t *testing.T, folder string) []crdtest.Case {
	t.Helper()
	cases, err := crdtest.Load(os.DirFS("testdata"), folder)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

func judgeCase(t *testing.T, c crdtest.Case) *Report {
	t.Helper()
	report, err := Judge(t.Context(), Change{Old: c.Old, New: c.New}, nil, each(c.Objects))
	if err != nil {
		t.Fatal(err)
	}
	if report.Objects != len(c.Objects) {
		t.Errorf("%d objects are judged, want %d", report.Objects, len(c.Objects))
	}
	return report
}

func each(objects []*unstructured.Unstructured) iter.Seq2[*unstructured.Unstructured, error] {
	return func(yield func(*unstructured.Unstructured, error) bool) {
		for _, o := range objects {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func compareFindings(t *testing.T, want []crdtest.Finding, got []Finding) {
	t.Helper()
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(want):
			t.Errorf("unexpected: %+v", got[i])
		case i >= len(got):
			t.Errorf("missing: %+v", want[i])
		default:
			compareFinding(t, want[i], got[i])
		}
	}
}

func compareFinding(t *testing.T, want crdtest.Finding, got Finding) {
	t.Helper()
	found := crdtest.Finding{
		Reason: string(got.Reason), Defect: string(got.Defect), Severity: string(got.Severity), Version: got.Version, Object: got.Object, Field: got.Field,
	}
	if want.Severity == "" {
		want.Severity = string(Block)
	}
	if want.Version == "" {
		want.Version = got.Version
	}
	if found != want {
		t.Errorf("got  %+v (%s)\nwant %+v", found, got.Message, want)
	}
	if got.Message == "" {
		t.Errorf("no message in %+v", got)
	}
}
