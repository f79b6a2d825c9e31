package operations

// For tests of the package from outside, which use operationstest.
const (
	MaxBackoff      = maxBackoff
	RefreshInterval = refreshInterval
	LeaseValidFor   = leaseValidFor
	ProbeTimeout    = probeTimeout
)

// Redial does what a probe without an answer does.
func (c *Cluster) Redial() { c.redial() }

// InUse returns the address that is used instead of that of the kubeconfig.
func (a *APIServers) InUse() string { return a.inUse() }
