// Package backups runs the commands about backups of etcd:
//
//  1. create: creates an EtcdBackup and follows it to its end
//  2. verify: reads a stored backup again, and decrypts it if there is an identity
//  3. prune: deletes what the BackupStore does not keep
//  4. restore: returns the commands that restore one
package backups
