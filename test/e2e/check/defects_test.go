//go:build e2e

package check

import "slices"

// clusterDefects are all defects of the cluster itself. Those of hosts are separate: they need
// reports of agents, which change other findings.
func clusterDefects() []defect {
	return slices.Concat(budgetDefects(), workloadDefects(), webhookDefects(), apiDefects(), configDefects(), nodeDefects(), controlPlaneDefects(), otherDefects())
}
