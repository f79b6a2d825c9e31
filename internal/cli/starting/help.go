package starting

// UpgradeHelp describes `refit upgrade`.
const UpgradeHelp = `Upgrade a cluster. The command reads the cluster, shows the plan, prompts for confirmation, starts
an operation with that plan approved, and follows it until it ends: in a live view on a terminal,
else with a line for each change. If the same upgrade is in progress, the command follows that one.

The controllers in the cluster execute the upgrade; it continues if you interrupt the command
(Ctrl-C). With --standalone, the command runs the controllers itself: if you interrupt it, nothing
further starts, a host that is being changed completes its upgrade, and the same command continues
later.

If the cluster has no ClusterRelease for the target, and its hosts accept your own key, the command
offers to create one from upstream and to sign it ("release add --online"). With --to v1.36, it is
the newest patch release that upstream has.

With --components, only components are upgraded, to the versions of the ClusterRelease of the
Kubernetes version that the cluster runs; --release selects one of several.

Without a terminal, --yes is required. With -o json, the first line is the plan, followed by a line
for each change. A user without permission to approve plans starts an upgrade that waits for another
user's approval.

Exits with 0 if the upgrade succeeds or there is nothing to upgrade, with 1 if it is aborted or
cannot start, with 3 if a preflight finding blocks it (nothing is started), with 4 if --timeout
expires, and with 130 if you interrupt it. The command keeps following a stalled upgrade, which
continues once the cause is fixed.`
