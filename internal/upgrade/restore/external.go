package restore

// ExternalRemedy is how an operator restores an external etcd, which Refit does not. The decrypted
// part begins with a header of six lines.
const ExternalRemedy = "decrypt the snapshot with `age --decrypt --identity FILE etcd.db.zst.age | tail --lines=+7 | zstd --decompress > etcd.db`, " +
	"stop every API server and every member, and run `etcdutl snapshot restore etcd.db` on each host of etcd"
