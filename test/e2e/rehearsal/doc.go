// Package rehearsal tests drills and rehearsals on the data of a real cluster: a clean cluster has
// no findings, each seeded breakage is found, the live cluster does not change, and nothing is
// left.
package rehearsal
