// Package check tests `refit check`, `refit plan` and `refit snapshot` as a person
// runs them, on a real cluster into which defects are put: each must be found by
// its name and object, and nothing else may stand in the way.
package check
