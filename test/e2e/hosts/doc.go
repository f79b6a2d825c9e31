// Package hosts upgrades clusters of the kinds that people have and that the other tests do not: a
// virtual IP on the control plane nodes, an external etcd, the layout of kubespray, rpm packages.
// Each test prints its figures.
package hosts
