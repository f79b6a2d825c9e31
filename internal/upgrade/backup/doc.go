// Package backup defines how backups of etcd are stored, and decides about what a store contains:
//
//  1. Key and ParseKey map the parts of a backup to the names of objects.
//  2. Manifest describes the parts. It is written last, and its name has the digest of its content.
//  3. Header is the first plain text of each part: it binds the part to its backup.
//  4. Group sorts the objects of a store into attempts; Complete reports what one of them lacks.
//  5. Expected compares a stored backup with what the API or the host recorded about it.
//  6. Expired selects the backups that retention deletes.
//
// docs/design/0013-backup-format.md has the reasons.
package backup
