// Package observe reads a live cluster into a cluster.Snapshot, and changes nothing.
//
//  1. What others refer to: the cluster's identity, nodes, budgets, volumes, whether Refit's own objects are served.
//  2. Everything that needs only those. Pods are folded into workloads, page by page, so that never more than a page of them is in memory.
//  3. What follows from the rest: the pods behind webhooks, each API server by itself, who holds the endpoint, who else changes nodes.
//
// readers.go lists all readers. Each fails alone: what it could not read becomes a Gap that says which right is missing or what was out of reach,
// and the fact stays Unknown. Only without the nodes there is no Snapshot.
//
// The reader acts with the rights of whoever runs it and needs none beyond. Of what may hold secrets (Secrets, flags, manifests, URLs) only
// what is named in a list of what decisions need is kept.
package observe
