// Package settings contains the settings of a host, which no order can change: sources of files,
// trusted keys, what kubeadm needs to know about the host, and paths.
package settings
