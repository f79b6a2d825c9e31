// Package drain tests engine/drain on real API servers. The test simulates the kubelet, which
// terminates pods, and the disruption controller, which counts them.
package drain
