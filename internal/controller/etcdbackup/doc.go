// Package etcdbackup executes the decisions of upgrade/etcdbackup about an EtcdBackup: it records
// an attempt in the status, gives the order to the agent of the chosen node, and copies the result.
package etcdbackup
