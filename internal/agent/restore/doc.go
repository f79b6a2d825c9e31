// Package restore gives a control plane host its etcd data back from a backup, without the API:
//
//  1. Prepare fetches, decrypts and verifies the backup, observes the host, and decides
//     (internal/upgrade/restore). It changes nothing of the cluster.
//  2. Begin records the confirmed plan, and Execute runs its steps with a journal of its own. After
//     a crash, the same command continues.
//  3. Finish is the part of the agent's service: it starts the API server once every member of a
//     restored cluster serves.
//
// The old data of etcd is moved aside and never deleted.
package restore
