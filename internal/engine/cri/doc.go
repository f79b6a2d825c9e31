// Package cri is a client of the container runtime: containers, images, logs. It also checks that a
// newer containerd accepts the host's configuration.
package cri
