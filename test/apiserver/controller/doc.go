// Package controller tests the controllers on a real API server: whole upgrades of a cluster with
// simulated hosts, user actions during them, and faults. Monitors check throughout that no more is
// unavailable than allowed.
package controller
