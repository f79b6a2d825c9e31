// Package progress reports the progress of long operations: what runs, for how long, and how long
// it usually takes.
package progress
