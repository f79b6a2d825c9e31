// Package sample requests the API and a workload's Service ten times a second while a cluster
// changes, and reports how long each was unavailable.
package sample
