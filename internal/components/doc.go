// Package components is the component agent: it upgrades add-ons of the cluster as orders demand,
// and reports what is installed and what each ClusterRelease would change.
//
// It is to the cluster what the agent is to a host. Orders name signed content and a permit, never
// a command. The status of a ComponentUpgrade is the journal: each start of a step is stored before
// the step acts, so that a process that is killed at any time is continued by the next one.
package components
