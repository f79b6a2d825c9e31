package components

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/internal/engine/crd"
)

type countingJudge struct {
	calls int
	err   error
}

func (c *countingJudge) Judge(context.Context, *crd.Definition) (*crd.Report, error) {
	c.calls++
	return &crd.Report{Objects: c.calls}, c.err
}

func (*countingJudge) Definitions(context.Context, ...string) (map[string]*crd.Definition, error) {
	return nil, nil
}

// TestADefinitionIsJudgedOnce: each time reads all its objects.
func TestADefinitionIsJudgedOnce(t *testing.T) {
	counted := &countingJudge{}
	judge := &judgeOnce{judge: counted, reports: map[string]*crd.Report{}}
	definition := func(group string) *crd.Definition {
		d := &crd.Definition{ObjectMeta: metav1.ObjectMeta{Name: "things.example.test"}}
		d.Spec.Group = group
		return d
	}
	for range 3 {
		if report, err := judge.Judge(t.Context(), definition("a")); err != nil || report.Objects != 1 {
			t.Errorf("%+v, %v", report, err)
		}
	}
	if report, err := judge.Judge(t.Context(), definition("b")); err != nil || report.Objects != 2 {
		t.Errorf("another definition: %+v, %v", report, err)
	}
	counted.err = errors.New("unavailable")
	for calls := 3; calls < 5; calls++ {
		if _, err := judge.Judge(t.Context(), definition("c")); err == nil || counted.calls != calls {
			t.Errorf("after %d calls: %v", counted.calls, err)
		}
	}
}
