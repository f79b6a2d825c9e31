// Package steps has the implementation and the undo of each step of a component's upgrade, in one
// list. Every step can be repeated: a process that was killed in it leaves it open in the journal,
// and the next one runs it again.
package steps
