// Package trial tests trials of nodes with Pods, on real API servers and with the permissions that
// `refit install` grants to the controller. The test simulates the kubelet, which reports the
// status of a Pod.
package trial
