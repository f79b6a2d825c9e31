// Package cluster is the agent's API client: it authenticates as its node with the kubelet's
// certificate, watches two objects and writes their status.
package cluster
