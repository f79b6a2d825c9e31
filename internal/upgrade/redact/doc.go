// Package redact removes secrets from text and objects before they are written to a file that
// leaves the cluster. It is stricter than what is used for messages in a status: it handles whole
// logs and journals, and a false positive costs a word of a log, a false negative a credential.
//
//  1. Text is handled line by line, so a secret is never split between two reads. The state of the
//     stream handles secrets of several lines (PEM blocks, YAML blocks).
//  2. Each rule finds spans in a line. Overlapping spans are merged, and replaced by the name of
//     the rule that begins first.
//  3. Objects are handled by field, so that the encoding does not matter, and then each of their
//     strings as text.
//
// Every rule counts what it has redacted, so that a reader of the result knows what is missing.
package redact
