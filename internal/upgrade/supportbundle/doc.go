// Package supportbundle decides what a support bundle has in it: for which time, from which hosts,
// within which limits, under which names, and how its index describes what is missing. The adapter
// of the same name collects it.
package supportbundle
