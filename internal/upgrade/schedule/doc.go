// Package schedule decides when an UpgradeSchedule starts an upgrade, and to which version. Each
// decision follows from the schedule, the operations, the ClusterReleases and the time alone:
//
//  1. timing.go, wall.go: the start times of a cron expression on the local clock of a time zone
//  2. channel.go: the version that a channel chooses
//  3. next.go: whether a start is due, and what becomes of it
//  4. operation.go: the ClusterUpgrade of a start, whose name follows from its time
//  5. status.go: the status
package schedule
