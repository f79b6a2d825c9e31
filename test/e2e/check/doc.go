// Package check tests `refit check`, `refit plan` and `refit snapshot` on a real cluster with
// injected defects: each defect must be found by its name and object, and nothing else may block.
package check
