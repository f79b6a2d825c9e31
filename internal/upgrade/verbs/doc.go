// Package verbs decides how a user may change an operation in progress: pause, resume, retry,
// abort, approve, and change waivers and pools. Each verb is a function of the operation and its
// progress; it returns the change to the spec and its consequence, or an error with a remedy. Each
// can be repeated.
package verbs
