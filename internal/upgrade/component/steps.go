package component

import (
	"slices"
	"strings"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Step is one step of a component's upgrade or of its rollback.
type Step struct {
	// Name identifies the step in the journal.
	Name string
	Kind StepKind
	// Recipe is the step of the recipe that it comes from, if any.
	Recipe *refitv1alpha1.RecipeStep
	// Wave is the index of a wave.
	Wave int
	// Of is the step that a step of a rollback undoes.
	Of string
	// Changes is set if the step changes what runs. A failure from there on rolls back.
	Changes bool
	// Waits is set if the step waits once it has written, if it writes at all, and the wait can be
	// ended at any time.
	Waits bool
	// Limit is the timeout of the step.
	Limit time.Duration
}

// StepKind is what a step does.
type StepKind string

// The kinds of steps, in the order of an upgrade. A freeze is lifted before every end, so thawing
// is no step.
const (
	StepCheck    StepKind = "check"     // check permissions, values, charts and objects again
	StepSave     StepKind = "save"      // save the CRDs and the revision of the Helm release
	StepFreeze   StepKind = "freeze"    // deny changes that would race with the upgrade
	StepKeepCRDs StepKind = "keep-crds" // annotate CRDs so that Helm never deletes them
	StepAdopt    StepKind = "adopt"     // a revision of the Helm release without CRDs
	StepCRDs     StepKind = "crds"      // upgrade the CRDs
	StepWave     StepKind = "wave"      // upgrade objects and wait until they are ready
	StepWait     StepKind = "wait"      // wait for objects
	StepTouch    StepKind = "touch"     // have objects reconciled
	StepRecreate StepKind = "recreate"  // have objects created again
	StepPatch    StepKind = "patch"     // set a field of objects
	StepRemove   StepKind = "remove"    // delete all objects of a component that is removed
	StepVerify   StepKind = "verify"    // verify the component
	StepCommit   StepKind = "commit"    // flip the storage version of CRDs: no rollback from here on
	StepSweep    StepKind = "sweep"     // delete what no revision has any more
)

// The steps of a rollback that undo no single step.
const (
	// StepUnflip stores objects in the old version again while the new conversion webhook runs.
	StepUnflip    StepKind = "unflip"
	StepVerifyOld StepKind = "verify-old" // verify the old version
)

// undo is how a rollback undoes a step.
type undo int

const (
	undoNothing undo = iota
	undoRestore      // in reverse order
	undoRepeat       // again, once everything else is restored
)

type stepDefinition struct {
	kind    StepKind
	undo    undo
	changes bool
	waits   bool
	limit   time.Duration
	// words are what the step does, for the middle of a sentence, and back what its undo does.
	words, back string
}

// definitions lists every kind of step.
var definitions = []stepDefinition{
	{kind: StepCheck, waits: true, limit: 5 * time.Minute, words: "checking permissions, values and objects again"},
	{kind: StepSave, limit: 5 * time.Minute, words: "saving the CRDs and the revision of the Helm release"},
	{kind: StepFreeze, limit: time.Minute, words: "denying changes that would race with the upgrade"},
	{kind: StepKeepCRDs, limit: 2 * time.Minute, words: "protecting CRDs from deletion by Helm"},
	{kind: StepAdopt, limit: 5 * time.Minute, words: "preparing the Helm release"},
	{kind: StepCRDs, limit: 15 * time.Minute, undo: undoRestore, changes: true, words: "upgrading CRDs", back: "restoring CRDs"},
	{kind: StepWave, waits: true, limit: 15 * time.Minute, undo: undoRestore, changes: true, words: "upgrading objects", back: "rolling back objects"},
	{kind: StepWait, waits: true, limit: 10 * time.Minute, words: "waiting for objects"},
	{
		kind: StepTouch, waits: true, limit: 30 * time.Minute, undo: undoRepeat, changes: true,
		words: "having objects reconciled", back: "having objects reconciled by the old version",
	},
	{
		kind: StepRecreate, waits: true, limit: 30 * time.Minute, undo: undoRepeat, changes: true,
		words: "recreating objects", back: "recreating objects with the old version",
	},
	{
		kind: StepPatch, waits: true, limit: 30 * time.Minute, undo: undoRestore, changes: true,
		words: "setting fields of objects", back: "restoring fields of objects",
	},
	{
		kind: StepRemove, limit: 15 * time.Minute, undo: undoRestore, changes: true,
		words: "deleting the objects of the component", back: "creating the objects of the component again",
	},
	{kind: StepVerify, waits: true, limit: 15 * time.Minute, changes: true, words: "verifying that everything is ready"},
	{kind: StepCommit, limit: 30 * time.Minute, words: "completing the change, which can no longer be rolled back"},
	{kind: StepSweep, limit: 5 * time.Minute, words: "deleting what earlier revisions left behind", back: "deleting what the new version left behind"},
	{kind: StepUnflip, limit: 30 * time.Minute, words: "storing objects in the old version again"},
	{kind: StepVerifyOld, limit: 15 * time.Minute, words: "verifying the old version"},
}

func definition(kind StepKind) stepDefinition {
	for _, d := range definitions {
		if d.kind == kind {
			return d
		}
	}
	return stepDefinition{kind: kind}
}

func newStep(kind StepKind, name string) Step {
	d := definition(kind)
	return Step{Name: name, Kind: kind, Changes: d.changes, Waits: d.waits, Limit: d.limit}
}

// undoName is the name of the step that undoes another one.
func undoName(step string) string { return "undo-" + step }

// Undoes reports whether a text is the name of a step that undoes another one.
func Undoes(name string) bool {
	return strings.HasPrefix(name, undoName("")) && !strings.Contains(name, " ")
}

// Rollback returns the steps that roll an upgrade back. Only those whose forward step has started
// are run. Storage versions come first, while the new conversion webhook runs; then every step in
// reverse; then what must happen again under the old version.
func Rollback(steps []Step) (back []Step) {
	for _, s := range steps {
		if s.Kind == StepCRDs {
			unflip := newStep(StepUnflip, string(StepUnflip))
			unflip.Of = s.Name
			back = append(back, unflip)
		}
	}
	for _, s := range slices.Backward(steps) {
		if definition(s.Kind).undo == undoRestore {
			back = append(back, inverse(s))
		}
	}
	for _, s := range steps {
		if definition(s.Kind).undo == undoRepeat {
			back = append(back, inverse(s))
		}
	}
	return append(back, newStep(StepVerifyOld, string(StepVerifyOld)), newStep(StepSweep, undoName(string(StepSweep))))
}

func inverse(s Step) Step {
	s.Of, s.Name = s.Name, undoName(s.Name)
	return s
}
