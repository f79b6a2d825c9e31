// Command refit-agent is the service on a host that upgrades it in place.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	c, err := command(os.Stdout, os.Stderr).ExecuteContextC(ctx)
	stop()
	os.Exit(report(os.Stderr, c, err))
}
