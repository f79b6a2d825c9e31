// Package terminal has the streams of the CLI and everything that depends on whether they are a
// terminal: colors, width, confirmation, a progress line, and the live view of an operation.
package terminal
