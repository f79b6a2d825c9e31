package following

// WatchHelp describes `refit watch`.
const WatchHelp = `Follow an upgrade until it ends: in a live view on a terminal, else with a line for each change. The
command keeps trying while the API server is unreachable, as during an upgrade of a control plane
node. The upgrade continues if you interrupt the command (Ctrl-C).

Without a name, the command follows the active operation, or the last one if all have ended.

Exits with 0 if the upgrade succeeds, with 1 if it is aborted, and with 4 if --timeout expires. The
command keeps following a stalled upgrade, which continues once the cause is fixed.`
