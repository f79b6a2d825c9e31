// Command refit checks, plans and will carry out upgrades of Kubernetes clusters.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends us at once, should ending after the first one hang.
	context.AfterFunc(ctx, stop)
	code := run(ctx, newApp(os.Args[0]), os.Args[1:])
	stop()
	os.Exit(code)
}
