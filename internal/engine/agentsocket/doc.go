// Package agentsocket reads the status of a host from the socket of its agent, without the API
// server.
package agentsocket
