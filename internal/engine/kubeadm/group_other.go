//go:build !unix

package kubeadm

import "os/exec"

// ownGroup does nothing: on Windows, the CLI reads files of kubeadm and never runs it.
func ownGroup(*exec.Cmd) {}
