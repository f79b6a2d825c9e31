package apiserver

// Options configure a server. The zero value is a server of the newest version of the run.
type Options struct {
	// Version of Kubernetes, such as v1.36.3; the testbed must list it.
	Version string
	// Audit logs every request except the harness's own, for Server.Audit.
	Audit bool
	// MaxRequestsInflight raises the limit of concurrent requests, for reads and writes each.
	// Members of system:masters are not limited.
	MaxRequestsInflight int
	// EtcdQuota is the maximum size of etcd's database in bytes; etcd's default is 2 GiB.
	EtcdQuota int64
	// Flags are additional flags of kube-apiserver, such as
	// --feature-gates=MutatingAdmissionPolicy=true. They override the harness's own.
	Flags []string
}
