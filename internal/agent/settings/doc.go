// Package settings contains the settings of a host, which no order can change: sources of files,
// trusted keys, kubeadm's settings for the host, and paths.
package settings
