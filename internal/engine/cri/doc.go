// Package cri asks a container runtime about its containers and images, and prepares containerd for a newer version of itself.
package cri
