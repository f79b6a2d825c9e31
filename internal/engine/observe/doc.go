// Package observe reads a live cluster into a cluster.Snapshot. It changes nothing.
//
//  1. Facts that others refer to: the cluster's identity, nodes, PodDisruptionBudgets, volumes, and
//     whether the API serves Refit's objects.
//  2. Everything that needs only those. Pods are folded into workloads page by page, so that at
//     most one page of them is in memory.
//  3. Facts that follow from the rest: the pods behind webhooks, every API server at its own
//     address, the holder of the endpoint, and other controllers that change nodes.
//
// readers.go lists all readers. Each fails alone: a part that it cannot read becomes a Gap with the
// missing permission or the unreachable address, and its facts stay Unknown. Only without nodes
// there is no Snapshot.
//
// The readers use the permissions of the user who runs them. From objects that may contain secrets
// (Secrets, flags, manifests, URLs) they keep only what decisions need, by name.
package observe
