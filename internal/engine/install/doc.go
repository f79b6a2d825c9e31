// Package install brings Refit into a cluster, and out of it again.
//
//  1. Render makes the objects from the manifests of config and from what a person chose.
//  2. Apply brings them in by server-side apply, in the order of kinds.go: namespaces, definitions (and waits for them), policies, rights, workloads. What an
//     earlier install brought and this one does not is removed, if it still has our label. An inventory in the cluster says what was brought.
//  3. Follow watches agents arrive on nodes, and the controller start.
//  4. Remove takes all of it away, with the agents on the hosts first.
//
// It refuses while an operation is unfinished, and acts with the rights of whoever runs it.
package install
