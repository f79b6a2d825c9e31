// Package steps carries out the steps of package node on a real host: what each does, how it is probed after a crash, and how it is undone.
package steps
