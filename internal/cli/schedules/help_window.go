package schedules

// WindowHelp describes `refit window`.
const WindowHelp = `Show when the MaintenanceWindows of a cluster are open. Create them with kubectl or a GitOps tool,
and name one in an upgrade: "upgrade --window NAME".`

// WindowNextHelp describes `refit window next`.
const WindowNextHelp = `Show the next openings of a MaintenanceWindow on its local clock, without its blackouts. While it is
open, the first one is in progress.`
