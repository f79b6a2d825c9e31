package backups

// CreateHelp describes `refit backup create`.
const CreateHelp = `Take a backup of etcd and follow it until it is stored, was read back, and was restored into a
scratch etcd on the host and compared. The command creates an EtcdBackup; the agent of a control
plane node takes the backup, which continues if you interrupt the command (Ctrl-C). At the end it
prints the digest of the backup, which proves its origin, and the next steps.

With --drill none, the backup is not restored. With --drill rehearse, the versions on the path to
--to also run on the restored data.

Exits with 0 if the backup succeeds, with 1 if it fails, with 3 if the rehearsal has findings, with
4 if --timeout expires, and with 130 if you interrupt it.`

// RehearseHelp describes `refit rehearse`.
const RehearseHelp = `Rehearse an upgrade: take a backup of etcd, restore it on a control plane host beside the cluster,
and run the API server of each version on the path to the target on that data, with the flags of
this cluster. Each finding has an object and a remedy. The cluster is not changed.

The command creates an EtcdBackup, which continues if you interrupt the command (Ctrl-C).

Exits with 0 if the rehearsal has no findings, with 1 if it could not be done, with 3 if it has
findings, with 4 if --timeout expires, and with 130 if you interrupt it.`

// VerifyHelp describes `refit backup verify`.
const VerifyHelp = `Verify a stored backup: read every part of it from its store, and compare it with the digests that
its EtcdBackup records. With --identity, the command also decrypts every part, which proves that you
can read your backups, and sets the condition IdentityProven of the BackupStore if you may approve.
The identity and the decrypted data stay in the memory of this process.

The credentials of a bucket are read from the cluster. A directory of control plane hosts can only
be read there: the command prints what to run on which host. If it is mounted on this machine, use
--path.

Exits with 0 only if every byte is proven, and with 1 otherwise.`
