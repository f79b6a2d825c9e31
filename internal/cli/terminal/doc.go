// Package terminal has the streams of the CLI and what depends on whether they lead to a terminal:
// colors, width, confirmation, a line of progress, and the live view of an operation.
package terminal
