package offer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/engine/helm"
)

func TestValuesOfSecretsAreNotInProblems(t *testing.T) {
	err := fmt.Errorf("%w: password: 'hunter2' is too short", helm.ErrValues)
	if p := renderProblem(err, false); p.Reason != "ValuesInvalid" || !strings.Contains(p.Message, "hunter2") {
		t.Errorf("without Secrets: %+v", p)
	}
	if p := renderProblem(err, true); p.Reason != "ValuesInvalid" || strings.Contains(p.Message, "hunter2") || !p.Blocks {
		t.Errorf("with Secrets: %+v", p)
	}
}
