// Package install tests engine/install on real API servers: the objects that it installs and those
// that it does not change, admission, the permissions of the controller, and that uninstalling
// leaves nothing. There are no nodes: the tests simulate the controllers and kubelets of
// Kubernetes.
package install
