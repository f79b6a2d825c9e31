//go:build e2e

package check

import "slices"

// defects are all that are put into the cluster. Those of hosts are apart: they need reports of agents, which change what else is said.
func clusterDefects() []defect {
	return slices.Concat(budgetDefects(), workloadDefects(), webhookDefects(), apiDefects(), configDefects(), nodeDefects(), controlPlaneDefects(), otherDefects())
}
