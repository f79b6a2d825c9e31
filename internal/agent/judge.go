package agent

import (
	"context"
	"errors"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// surveyError is the error of a survey: the cause is on this host and not in the API.
type surveyError struct{ error }

func (e *surveyError) Unwrap() error { return e.error }

const (
	// surveyTries is how often a survey is tried before the order fails.
	surveyTries = 3
	// reportedTries is how often an order is judged before its status reports why it cannot be.
	reportedTries = 4
)

// cannotStart rejects an order that cannot start. It returns an error that may be temporary.
func (a *Agent) cannotStart(ctx context.Context, order *refitv1alpha1.NodeUpgrade, err error) error {
	failure := permanent(err)
	if failure == nil && ctx.Err() == nil && a.orders.tries+1 >= surveyTries {
		failure = surveyFailure(err)
	}
	if failure == nil {
		return err
	}
	return a.reject(order, failure)
}

// surveyFailure returns the failure of a survey whose error has no class: nobody would find out why
// the order waits. It returns nil for all other errors.
func surveyFailure(err error) *node.Failure {
	survey, ok := errors.AsType[*surveyError](err)
	if _, known := errors.AsType[*node.Failure](err); !ok || known {
		return nil
	}
	return node.ManualIntervention("SurveyFailed", survey.error,
		"Check the agent's log on the host (`journalctl -u refit-agent`), fix the cause, then run `refit retry`",
		"cannot determine what the upgrade changes on this host")
}

// notJudged is the reason that the status of an order reports while the agent tries again.
func notJudged(err error) *node.Refusal {
	refusal := &node.Refusal{Reason: "NotJudged", Message: "the agent cannot judge the order yet and tries again: " + err.Error()}
	if failure, ok := errors.AsType[*node.Failure](err); ok {
		refusal.Reason = failure.Reason
	}
	return refusal
}
