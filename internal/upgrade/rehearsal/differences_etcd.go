package rehearsal

const (
	memberName = "rehearsal"
	peerURL    = "http://127.0.0.1:2380"
	dataDir    = Scratch + "/data"
)

// EtcdDifferences are the flags of etcd that differ in a rehearsal: it is a cluster of one member.
var EtcdDifferences = []Difference{
	{"name", memberName, "the name in the restored data"},
	{"data-dir", dataDir, "the restored copy, never the live data"},
	{"wal-dir", "", "the restored copy has its log in the data directory"},
	{"listen-client-urls", EtcdURL, "there is only a loopback device"},
	{"advertise-client-urls", EtcdURL, "as listen-client-urls"},
	{"listen-client-http-urls", "", "as listen-client-urls"},
	{"listen-peer-urls", peerURL, "as listen-client-urls"},
	{"initial-advertise-peer-urls", peerURL, "as listen-client-urls"},
	{"listen-metrics-urls", "", "nothing reads the metrics"},
	{"initial-cluster", memberName + "=" + peerURL, "the other members are not reachable"},
	{"initial-cluster-state", "", "the restored data is that of a new cluster"},
	{"initial-cluster-token", "", "the restored data is that of a new cluster"},
	{"discovery", "", "nothing is reachable"},
	{"discovery-srv", "", "nothing is reachable"},
	{"discovery-endpoints", "", "nothing is reachable"},
	{"cert-file", "", "loopback without TLS, in a network without other processes"},
	{"key-file", "", "as cert-file"},
	{"trusted-ca-file", "", "as cert-file"},
	{"client-cert-auth", "", "as cert-file"},
	{"client-crl-file", "", "as cert-file"},
	{"client-cert-allowed-hostname", "", "as cert-file"},
	{"auto-tls", "", "as cert-file"},
	{"peer-cert-file", "", "as cert-file"},
	{"peer-key-file", "", "as cert-file"},
	{"peer-trusted-ca-file", "", "as cert-file"},
	{"peer-client-cert-auth", "", "as cert-file"},
	{"peer-crl-file", "", "as cert-file"},
	{"peer-cert-allowed-cn", "", "as cert-file"},
	{"peer-cert-allowed-hostname", "", "as cert-file"},
	{"peer-auto-tls", "", "as cert-file"},
	{"force-new-cluster", "", "the restored data is that of a new cluster"},
	{"log-outputs", "", "the log is read from standard error"},
	{"enable-distributed-tracing", "", "collectors are not reachable"},
	{"experimental-enable-distributed-tracing", "", "collectors are not reachable"},
}

// Etcd returns the arguments of etcd in a rehearsal. A zero manifest is that of an external etcd.
func Etcd(m Manifest) []string { return m.apply(EtcdDifferences) }

// Restore returns the arguments of etcdutl that restore a backup in the sandbox.
func Restore(snapshot string) []string {
	return []string{
		"snapshot", "restore", snapshot, "--data-dir=" + dataDir, "--name=" + memberName,
		"--initial-cluster=" + memberName + "=" + peerURL, "--initial-advertise-peer-urls=" + peerURL,
	}
}

// Status returns the arguments of etcdutl that print the figures of a backup.
func Status(snapshot string) []string {
	return []string{"snapshot", "status", snapshot, "--write-out=json"}
}

// Database is the path of the restored database in a sandbox.
const Database = dataDir + "/member/snap/db"
