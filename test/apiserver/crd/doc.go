// Package crd compares the verdicts of engine/crd with those of real API servers: for each change
// of the corpus, whether the server refuses the new CRD, and for each object what a create under
// the new CRD does. Updates would prove nothing, since the server ratchets them. It also judges the
// upgrades of real charts.
package crd
