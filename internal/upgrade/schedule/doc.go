// Package schedule decides when an UpgradeSchedule starts an upgrade, and to which version. Each
// decision follows from the schedule, the operations, the ClusterReleases and the time alone:
//
//  1. channel.go: the version that a channel chooses
//  2. next.go: whether a start is due, and what becomes of it
//  3. operation.go: the ClusterUpgrade of a start, whose name follows from its time
//  4. status.go: the status
//
// Package calendar has the times of a schedule.
package schedule
