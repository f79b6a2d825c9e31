// Package etcdbackup decides about an EtcdBackup:
//
//  1. Choose selects the control plane node whose agent takes the backup.
//  2. Next returns the next action: request reports, start an attempt, give the order, follow
//     it, or end the attempt. It keeps no state besides the EtcdBackup's status.
//  3. Apply sets the status that follows, and summarizes the result as kstatus reads it.
package etcdbackup
