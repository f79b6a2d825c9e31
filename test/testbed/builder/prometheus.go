package builder

import (
	"context"
	"path/filepath"
	"time"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// Prometheus is a server of metrics and the tool that tests its rules.
type Prometheus struct {
	Server string // path of prometheus
	Tool   string // path of promtool
}

// Prometheus returns both, and builds missing ones. It needs neither root nor any tool except Go.
func (b *Builder) Prometheus(ctx context.Context) (Prometheus, error) {
	toolchain, err := b.toolchain(ctx)
	if err != nil {
		return Prometheus{}, err
	}
	prometheus := prometheusServer(toolchain)
	if err := b.ensure(ctx, prometheus); err != nil {
		return Prometheus{}, err
	}
	return Prometheus{Server: filepath.Join(b.bin(prometheus), "prometheus"), Tool: filepath.Join(b.bin(prometheus), "promtool")}, nil
}

func prometheusServer(toolchain string) recipe {
	const module = "github.com/prometheus/prometheus"
	return goBinaries{
		name: "prometheus", release: versions.Prometheus, toolchain: toolchain,
		modules:  []goModule{{Path: module, Version: versions.Prometheus}},
		commands: []goCommand{{pkg: module + "/cmd/prometheus"}, {pkg: module + "/cmd/promtool"}},
		tags:     "remove_all_sd,enable_kubernetes_sd", // the others need the libraries of many clouds
		ldflags:  goStrip, takes: 5 * time.Minute,
	}
}
