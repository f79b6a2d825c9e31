// Package phrase formats numbers, durations and lists of names for messages.
package phrase
