// Package output is what commands answer, as values with a versioned JSON and YAML form that scripts can rely on.
//
// It is apart from the types that decisions are made with, so that those can change without breaking a script. The text that people read
// (package text) is made from these values too: whatever a person sees, a script can read.
package output
