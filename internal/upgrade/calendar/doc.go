// Package calendar computes when a MaintenanceWindow is open and when an UpgradeSchedule starts:
//
//  1. Instant maps a time on a local clock to an instant: the first at which the clock reads that
//     time or a later one. So a time that the clock skips is when it skips it, and a time that it
//     shows twice is the first of both.
//  2. An Opening starts on some days at a local time, and closes once the clock has advanced by its
//     duration.
//  3. Openings that overlap or touch are one Span; blackouts are cut out of it.
//  4. A Timing has the starts of an UpgradeSchedule: those of a cron expression, evaluated on what
//     the clock reads.
//
// It depends on the database of time zones and on nothing else.
package calendar
