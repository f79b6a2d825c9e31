// Package backup takes backups of etcd on a control plane host, one at a time, beside upgrades:
//
//  1. Open creates the slot of an attempt with its journal, and Run executes the steps of the
//     list in steps.go.
//  2. Stop ends an attempt before an upgrade disrupts the host: upgrades come first.
//  3. Resume ends an attempt that was interrupted. No attempt is ever continued: its leftovers are
//     deleted, and the next attempt has its own number.
//
// It never reads or changes the state of upgrades. A backup counts only once its manifest is stored
// and every part was read back.
package backup
