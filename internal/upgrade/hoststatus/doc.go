// Package hoststatus builds the HostStatus document: the state of a host and of its last upgrade.
// The socket of the agent and `refit-agent status` use the same builder, so that they never differ.
package hoststatus
