// Package serve upgrades a node while `refit serve` runs on it and a browser shows the upgrade, and
// compares what the page states each second with the truth. It also installs components with the
// answers to the form of their publisher.
package serve
