// Package upstream publishes a release as upstream does, for clusters of the testbed: the layout of
// dl.k8s.io, pkgs.k8s.io, registry.k8s.io and of the releases of containerd and the CNI plugins.
// The tools that upstream uses make the repositories.
package upstream
