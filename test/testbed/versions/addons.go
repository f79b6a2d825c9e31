package versions

// Addons for tests of components: each upgrades from the first version to the second. They are the
// versions of their Go modules.
var (
	MetricsServer   = [2]string{"v0.7.2", "v0.9.0"}
	LeaderWorkerSet = [2]string{"v0.7.0", "v0.8.0"}
	Kueue           = [2]string{"v0.14.0", "v0.15.0"}
	Liqo            = [2]string{"v1.1.2", "v1.2.0"}
)
