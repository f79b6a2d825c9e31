// Package verbs decides what a user may do to an operation in progress: pause, resume, retry, abort,
// approve, and change waivers and pools. Each verb is a function of the operation and its progress; it returns the change to
// the spec and what follows from it, or an error with a remedy. Each can be repeated.
package verbs
