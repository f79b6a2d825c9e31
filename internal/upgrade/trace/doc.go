// Package trace describes an operation as spans: operation, stage, node, step. It reads what the
// objects record, so the spans of an operation are the same whichever controller leads, and after
// every restart. The IDs are hashes of the operation's UID and of what a span describes: a span
// that is exported twice has the same ID.
//
// Spans have names, times, and the classes and reasons of failures. They never have messages or
// logs, which are written for users of the cluster and not for those of a trace store.
package trace
