// Package agent tests the agent's client on real API servers: what it sees and when, what it may write, what it asks while nothing happens.
package agent
