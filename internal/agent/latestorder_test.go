package agent

import (
	"context"
	"errors"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestOnlyNewerOrderInterruptsPrefetch(t *testing.T) {
	order := func(sequence int64) *refitv1alpha1.NodeUpgrade {
		return &refitv1alpha1.NodeUpgrade{Spec: refitv1alpha1.NodeUpgradeSpec{Sequence: sequence}}
	}
	l := newLatestOrder()
	l.put(order(3))
	if got := l.take(); got == nil || got.Spec.Sequence != 3 {
		t.Fatalf("got %v", got)
	}
	var ctx context.Context
	ctx, l.cancel = context.WithCancelCause(t.Context())
	l.put(order(3)) // its status changed
	if ctx.Err() != nil {
		t.Error("a change of the status interrupted the step")
	}
	l.put(order(4))
	if !errors.Is(context.Cause(ctx), errNewOrder) {
		t.Error("a newer order did not interrupt the step")
	}
}

func TestContextOfAStepEndsWithTheNextStep(t *testing.T) {
	l := newLatestOrder()
	first := l.interrupt(t.Context())
	second := l.interrupt(t.Context())
	if first.Err() == nil || second.Err() != nil {
		t.Errorf("the first step: %v, the second: %v", first.Err(), second.Err())
	}
	l.endInterrupt()
	if second.Err() == nil {
		t.Error("the context of a step that cannot be interrupted keeps that of the one before")
	}
	l.put(&refitv1alpha1.NodeUpgrade{Spec: refitv1alpha1.NodeUpgradeSpec{Sequence: 1}}) // nothing to interrupt
}
