// Package versions lists the versions of Kubernetes, etcd, CoreDNS and pause that belong together,
// and the versions of containerd and the CNI plugins that the testbed builds.
package versions
