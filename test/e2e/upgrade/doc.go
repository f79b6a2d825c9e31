// Package upgrade upgrades whole clusters of the testbed with what a user gets: `refit install`, `refit upgrade` and its sister commands, controllers in the
// cluster or outside it, an agent on every host. It kills and freezes the controllers, lets faults happen, lets people interfere, and looks all the while
// whether what may never happen happens.
package upgrade
