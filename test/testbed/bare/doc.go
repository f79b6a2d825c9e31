// Package bare upgrades a testbed cluster exactly as kubeadm's own documentation
// tells a person to, node after node, and reports the seconds of every part. It is
// the baseline that Refit is held against.
package bare
