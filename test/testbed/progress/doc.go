// Package progress tells a person what long work is doing, for how long it has
// been doing it, and how long it usually takes.
package progress
