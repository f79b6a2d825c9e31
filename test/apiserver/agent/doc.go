// Package agent tests the agent's client on real API servers: the events that it receives, the
// objects that it can write, and its requests while nothing changes.
package agent
