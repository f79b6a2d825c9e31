// Package upgrade upgrades whole clusters of the testbed as a user does: with `refit install`,
// `refit upgrade` and the related commands, controllers in the cluster or outside it, and an agent
// on every host. It kills and freezes the controllers, injects faults, interferes as operators
// might, and monitors the invariants throughout.
package upgrade
