// Package backup takes backups of etcd on a control plane host, one at a time, beside upgrades:
//
//  1. Open creates the slot of an attempt with its journal, and Run executes the steps of the
//     list in steps.go.
//  2. Stop ends an attempt before an upgrade disrupts the host: upgrades come first.
//  3. Resume ends an attempt that was interrupted. No attempt is ever continued: its leftovers are
//     deleted, and the next attempt has its own number.
//
// With a drill, the stored backup is decrypted and restored beside the cluster before the attempt
// succeeds; with a rehearsal, the hops of an upgrade then run on the restored data. Package
// internal/engine/rehearsal does both.
//
// It never reads or changes the state of upgrades. A backup counts only once its manifest is stored
// and every part was read back.
package backup
