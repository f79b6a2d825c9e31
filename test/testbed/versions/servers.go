package versions

// Servers for tests. MinIO has no tags that a Go module can name.
const (
	MinIO         = "v0.0.0-20260212201848-7aac2a2c5b7c"
	FakeGCSServer = "v1.56.1"
	Distribution  = "v3.1.2" // a registry
	Prometheus    = "v0.315.0"
	Helm          = "v4.3.1"
	// Dex has no tags that its Go module can name.
	Dex = "v0.0.0-20210917061239-f0186ff2651e"

	// The OpenTelemetry Collector has two lines of versions: stable modules, and all others.
	Collector       = "v0.156.0"
	CollectorStable = "v1.62.0"
)
