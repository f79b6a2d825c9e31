package schedules

// Help describes `refit schedule`.
const Help = `Show, suspend and resume the UpgradeSchedules of a cluster. A schedule creates an upgrade at each of
its times, to the version that its channel chooses. Create it with kubectl or a GitOps tool.`

// ListHelp describes `refit schedule list`.
const ListHelp = `List the schedules of a cluster: the next start on the local clock of each, the version that its
channel chooses now, and the result of the last start.`

// ShowHelp describes `refit schedule show`.
const ShowHelp = `Show a schedule: its next five starts, the version that its channel chooses now and why, and the
result of the last start.`

// SuspendHelp describes `refit schedule suspend`.
const SuspendHelp = `Suspend a schedule: it starts no further upgrades until you resume it. Upgrades in progress
continue.`

// ResumeHelp describes `refit schedule resume`.
const ResumeHelp = `Resume a suspended schedule. It makes up for no start of the meantime: the next upgrade starts at
the next time of the schedule.`
