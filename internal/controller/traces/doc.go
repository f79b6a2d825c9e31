// Package traces exports the spans of operations to an OpenTelemetry collector: those of a stage, a
// node and an operation when each of them ends. It reads objects and writes none. The leader
// exports; a new leader also exports what its predecessor may not have. An export never delays
// another controller:
//
//  1. recorder: which spans follow from a change of an object, and which were exported already
//  2. sender: a bounded queue, and one goroutine that sends and retries
package traces
