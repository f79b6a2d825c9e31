// Package hosts upgrades clusters of the kinds that people have and that the other tests do not: a
// virtual IP on the control plane nodes. Each test prints its figures.
package hosts
