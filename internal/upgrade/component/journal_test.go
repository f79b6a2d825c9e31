package component

import (
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Only what the journal has as in force is lifted if the process dies, or if it cannot lift it
// itself.
func TestAFreezeOfARollbackAfterOneThatReachedItsLimit(t *testing.T) {
	steps, err := Compile(recipe)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Unix(1e9, 0)
	now := start.Add(time.Hour)
	s := State{Steps: steps, Permit: refitv1alpha1.PermitApply, Rollback: refitv1alpha1.RollbackAuto}
	s = s.Freeze(start, time.Minute).Thaw(now)
	if s.Frozen == nil || !s.Frozen.Lifted {
		t.Fatalf("the first one is %+v", s.Frozen)
	}
	for _, name := range []string{"crds", "wave-controllers"} {
		s = s.End(Step{Name: name}, nil)
	}
	s = s.Fail(Failure{Reason: ReasonFreezeLimit}).RollBack()
	undo := Step{Name: undoName("crds")}
	s = s.Start(undo).Freeze(now, time.Minute)
	if f := s.Frozen; f == nil || f.Lifted || !f.Since.Equal(now) {
		t.Errorf("the journal has the freeze %+v", f)
	}
	s = s.End(undo, &Failure{Reason: "StepTimeout"})
	if move := Next(s, now); move.Kind != MoveThaw {
		t.Errorf("after a failure, the next move is %s", move.Kind)
	}
	if s = s.Thaw(now); s.Frozen != nil {
		t.Errorf("after it was lifted, the journal has %+v", s.Frozen)
	}
}
