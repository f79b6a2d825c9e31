// Package install installs Refit in a cluster and on its hosts, and removes it again.
//
//  1. Render builds the objects from the manifests of package config and the options.
//  2. Apply applies them server-side in the order of kinds.go: namespaces, CRDs (and waits until
//     they are established), policies, RBAC, workloads. It deletes objects of an earlier install
//     that are no longer part of it and still have the label of Refit. An inventory in the cluster
//     lists the installed objects.
//  3. Follow watches the agents start on their nodes, and the controller.
//  4. Remove removes everything, the agents on the hosts first.
//
// Apply and Remove fail while an operation is unfinished. They act with the permissions of the user
// who runs them.
package install
