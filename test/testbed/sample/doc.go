// Package sample asks the API and a workload's Service ten times a second while
// a cluster changes underneath, and reports for how long each did not answer.
package sample
