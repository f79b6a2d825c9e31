// Package install tests engine/install on real API servers: what it brings and leaves alone, what admission lets in, what the controller may do, and that
// nothing is left after a removal. There are no nodes: the tests play the controllers and kubelets of Kubernetes.
package install
