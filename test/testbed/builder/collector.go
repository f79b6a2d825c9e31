package builder

import (
	"context"
	"path/filepath"
	"time"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// Collector returns the path of an OpenTelemetry Collector that receives traces by OTLP and writes
// them to a file, and builds it if it is missing. Upstream publishes the parts of a collector as
// modules; each distribution is a main package that lists some. It needs neither root nor any tool
// except Go.
func (b *Builder) Collector(ctx context.Context) (string, error) {
	toolchain, err := b.toolchain(ctx)
	if err != nil {
		return "", err
	}
	collector := collectorServer(toolchain)
	if err := b.ensure(ctx, collector); err != nil {
		return "", err
	}
	return filepath.Join(b.bin(collector), "collector"), nil
}

func collectorServer(toolchain string) recipe {
	const upstream = "go.opentelemetry.io/collector/"
	return goBinaries{
		name: "collector", release: versions.Collector, toolchain: toolchain,
		modules: []goModule{
			{Path: upstream + "otelcol", Version: versions.Collector},
			{Path: upstream + "receiver/otlpreceiver", Version: versions.Collector},
			{Path: upstream + "confmap/provider/fileprovider", Version: versions.CollectorStable},
			{Path: "github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter", Version: versions.Collector},
		},
		source:   collectorMain,
		commands: []goCommand{{pkg: "refit.testbed/collector"}},
		ldflags:  goStrip, takes: 3 * time.Minute,
	}
}
