// Package manifest reads and writes a ClusterUpgrade as a user writes it.
package manifest
