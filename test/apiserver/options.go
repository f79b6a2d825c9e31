package apiserver

// Options say what kind of server a test wants. The zero value is a server of
// the newest version of the run.
type Options struct {
	// Version of Kubernetes, such as v1.36.3; one of the testbed's table.
	Version string
	// Audit writes down every request but the harness's own, for Server.Audit.
	Audit bool
	// MaxRequestsInflight raises how many requests are served at once, reading
	// and writing ones each. Members of system:masters are not limited anyway.
	MaxRequestsInflight int
	// EtcdQuota is how large etcd's file may become, in bytes; etcd's own
	// default is 2 GiB.
	EtcdQuota int64
	// Flags are further flags of kube-apiserver, such as
	// --feature-gates=MutatingAdmissionPolicy=true. They win over the harness's own.
	Flags []string
}
