package component

import "strings"

// Words returns what a step does, for the middle of a sentence, given its name in a journal. The
// name of a step of another version of Refit is returned as it is.
func Words(step string) string {
	name, undo := strings.CutPrefix(step, undoName(""))
	for _, d := range definitions {
		rest, is := strings.CutPrefix(name, string(d.kind))
		if !is || rest != "" && rest[0] != '-' || rest != "" && !numbered(d.kind) {
			continue
		}
		words := d.words
		if undo {
			words = d.back
		}
		if words == "" {
			break
		}
		if rest != "" && d.kind == StepWave {
			words += " of wave " + rest[1:]
		}
		return words
	}
	return step
}

// numbered reports whether a recipe can have several steps of a kind, whose names have a suffix.
func numbered(kind StepKind) bool {
	switch kind {
	case StepWave, StepWait, StepTouch, StepRecreate, StepPatch:
		return true
	case StepCheck, StepSave, StepFreeze, StepKeepCRDs, StepAdopt, StepCRDs, StepRemove, StepVerify, StepCommit, StepSweep, StepUnflip, StepVerifyOld:
	}
	return false
}
