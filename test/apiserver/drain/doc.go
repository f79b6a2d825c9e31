// Package drain tests engine/drain on real API servers. The test plays the kubelet, which ends pods, and the disruption controller, which counts them.
package drain
