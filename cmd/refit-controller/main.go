// Command refit-controller runs Refit's controllers, in the cluster that they upgrade.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/refit-dev/refit/internal/controller"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "refit-controller: "+err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("refit-controller", flag.ContinueOnError)
	metrics := flags.String("metrics-address", ":8080", "where metrics are served; 0: nowhere")
	health := flags.String("health-address", ":8081", "where /healthz and /readyz are served; 0: nowhere")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the cluster: %w", err)
	}
	config.DisableCompression = true // it is near the API servers, and their processors are worth more than the line
	config.UserAgent = "refit-controller/" + version
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	return controller.Run(ctx, controller.Options{Config: config, Log: log, Metrics: *metrics, Health: *health})
}
