// Package cluster is the agent's way to the API: it speaks as its node, with the kubelet's certificate, watches two objects and writes their status.
package cluster
