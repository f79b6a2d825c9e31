package assessing

// CheckHelp describes `refit check`.
const CheckHelp = `Check whether a cluster can be upgraded. Each finding names the object that it is about, the
problem, and the remedy. The command changes nothing and needs read permissions only; it reports
what it cannot read.

A finding blocks, warns or informs. Fix a finding that blocks, or waive it by name and with a reason
that is recorded; it is not possible to waive all of them at once. Some checks need Refit's agent on
the nodes; without it their results are pending, and they do not block here.

Use --list to list all checks: the name of each, as in findings and waivers, its severity and its
meaning. "agent" marks a check that needs the agent for at least a part of its result, "no waiver"
one that cannot be waived.

Exits with 0 if no finding blocks, and with 3 if one does.`

// PlanHelp describes `refit plan`.
const PlanHelp = `Show the plan of an upgrade without changing anything: the versions on the path, the stages, the
order of the nodes, which of them are drained, the estimated duration, and the reason for each
decision. Findings that block the upgrade are shown as well.

Use --from to plan for a saved Snapshot, without a cluster. Use -f for a ClusterUpgrade manifest
with a policy for pools of workers, canaries and drains; -o manifest prints the ClusterUpgrade of
this plan.

Exits with 0, and with 3 if a preflight finding blocks the upgrade.`
