// Package rehearsal decides how the target version runs on a copy of a cluster's data, and what its
// failures mean:
//
//  1. The command of etcd and kube-apiserver: the flags of the manifests that an upgrade would
//     render, except the ones of two closed lists (differences_apiserver.go, differences_etcd.go).
//  2. The files of the host that it sees: the hostPath volumes of the manifest (mounts.go).
//  3. The memory it needs, and whether the host has it (memory.go).
//  4. The resources to list: one version of each resource that etcd stores (resources.go).
//  5. Findings: from the log of a server that did not start (causes.go), from the readiness checks
//     and from lists that failed (findings.go).
//
// A drill compares the restored data with the record of the backup (compare.go).
package rehearsal
