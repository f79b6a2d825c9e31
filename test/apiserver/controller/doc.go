// Package controller tests the controllers on a real API server: whole upgrades of a cluster whose hosts are made up, what people do to them meanwhile, and
// faults. Monitors watch all the while that no more is taken away than may be.
package controller
