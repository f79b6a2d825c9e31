// Package versions says which versions of Kubernetes, etcd, CoreDNS and pause
// belong together, and which containerd and CNI plugins the testbed builds.
package versions
