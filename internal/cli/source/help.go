package source

// SnapshotHelp describes `refit snapshot`.
const SnapshotHelp = `Read a cluster and write a Snapshot to standard output as JSON: versions, nodes, workloads,
disruption budgets, webhooks, API servers and everything else that checks and plans use. "check
--from" and "plan --from" read it without a cluster.

The command changes nothing. A Snapshot never contains Secrets, environment variables or values of
flags that may be secret, but it names nodes, namespaces and workloads: treat it as an inventory. It
is not a backup of etcd.`
