// Package transient runs processes as transient systemd units: in a sandbox without network and
// with bounds on memory, CPU, I/O and time that systemd enforces, also after a crash of the agent.
//
// The agent cannot start them as its own children: its unit forbids new namespaces, and a child
// would end with it or would escape its bounds.
package transient
