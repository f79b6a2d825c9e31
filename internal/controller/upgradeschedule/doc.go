// Package upgradeschedule executes the decisions of upgrade/schedule about an UpgradeSchedule: it
// gives it a slot, creates the ClusterUpgrade of a start that is due, and writes the status.
//
// The name of a ClusterUpgrade follows from the time of its start. So a start creates one
// ClusterUpgrade, however often it is repeated and whoever repeats it.
package upgradeschedule
