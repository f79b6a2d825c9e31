// Package trial tests how Pods try nodes, on real API servers and with the rights that `refit install` gives to the controller. The test plays the kubelet,
// which tells how a Pod fares.
package trial
