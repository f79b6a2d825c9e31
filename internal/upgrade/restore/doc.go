// Package restore decides how a control plane host gets its etcd data back from a backup:
//
//  1. Decide: what is lost (Situation), and why a restore must not start (Refusal).
//  2. Steps: what a host does in this situation, in order. Next returns the step that follows the
//     records of a journal, so that the same command continues after a crash.
//  3. Snapshot: the command that restores the data of one member.
//  4. Final: from when on a restore cannot be canceled.
//  5. Files: which files of the host are restored.
//
// A restore always goes forward: the etcd and the API server that are on the host serve the data of
// the backup. See docs/design/0016-restore.md.
package restore
