// Package socket serves the status of the agent on a unix socket, read-only: GET /status returns a
// document, GET /events streams each change. It works without the API server, the kubelet and
// containerd.
//
// Clients never delay the agent. It publishes documents that do not change, without waiting for
// anybody: a client that reads too slowly is disconnected, and one too many is refused.
package socket
