package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// judgeStub returns an error while an order is judged.
type judgeStub struct {
	apiStub
	err error
}

func (s *judgeStub) Node(context.Context) (*corev1.Node, error) { return nil, s.err }

func TestErrorOfASurveyIsReported(t *testing.T) {
	plain := fmt.Errorf("cannot read %s: %w", "/etc/kubernetes/pki/ca.crt", errors.New("no such file"))
	f := surveyFailure(&surveyError{plain})
	if f == nil || f.Class != refitv1alpha1.FailureManualIntervention || f.Reason != "SurveyFailed" || f.Remedy == "" || !strings.Contains(f.Error(), "ca.crt") {
		t.Errorf("%+v", f)
	}
	transient := node.Transient("KubeletDown", nil, "-", "down")
	for name, err := range map[string]error{"of the API": plain, "transient": &surveyError{transient}, "none": nil} {
		if f := surveyFailure(err); f != nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// The survey of a host whose CA cannot be read fails with a plain error. The order must end.
func TestOrderWhoseSurveyFailsEndsInManualIntervention(t *testing.T) {
	a := newTestAgent(t, &apiStub{})
	a.orders.taken = 8
	for try := 1; a.state.Result == nil; try++ {
		if try > surveyTries {
			t.Fatalf("no result after %d tries", surveyTries)
		}
		if err := a.cannotStart(t.Context(), goodOrder("sha256:aa"), &surveyError{errors.New("cannot read the CA")}); err != nil {
			a.orders.tries++
		}
	}
	status, known, _ := a.status.compose()
	if !known || status.Phase != refitv1alpha1.NodeFailed || status.ObservedSequence != 8 || status.Error.Class != refitv1alpha1.FailureManualIntervention ||
		!strings.Contains(status.Error.Message, "cannot read the CA") {
		t.Errorf("%+v %+v", status, status.Error)
	}
}

func TestOrderThatCannotBeJudgedIsReported(t *testing.T) {
	a := newTestAgent(t, &judgeStub{err: node.Transient("APIUnreachable", nil, "-", "it is down")})
	order := goodOrder("sha256:aa")
	for range reportedTries {
		if a.status.refusal != nil {
			t.Fatal("it was reported at the first error")
		}
		a.orders.put(order)
		a.handle(t.Context(), a.orders.take())
	}
	if r := a.status.refusal; r == nil || r.Reason != "APIUnreachable" || !strings.Contains(r.Message, "it is down") {
		t.Errorf("%+v", r)
	}
}
