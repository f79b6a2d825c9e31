// Package bare upgrades a testbed cluster node by node as the kubeadm documentation describes, and
// reports the duration of every part. It is the baseline for Refit.
package bare
