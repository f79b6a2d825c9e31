package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"
)

// trial is the configuration of `try`.
type trial struct {
	name, port string
	within     time.Duration // timeout of the trial
	each       time.Duration // timeout of one attempt
	pause      time.Duration // between attempts
	lookup     func(ctx context.Context, name string) ([]string, error)
}

func (a *app) try() *cobra.Command {
	return &cobra.Command{
		Use:   "try",
		Short: "Resolve the API by its DNS name and connect to it, like a Pod of a workload",
		Long: `try runs in a Pod that Refit creates on a control plane node after its upgrade. The Pod proves that
its network and container runtime work, that DNS resolves the name of the API, and that Services
are reachable. try retries for a minute.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			t := trial{
				name: "kubernetes.default.svc", port: "443", within: time.Minute, each: 5 * time.Second, pause: time.Second,
				lookup: (&net.Resolver{PreferGo: true}).LookupHost,
			}
			took, err := t.run(c.Context())
			if err == nil {
				fmt.Fprintf(a.out, "Resolved and reached %s after %s\n", t.name, took.Round(time.Millisecond))
			}
			return err
		},
	}
}

// run retries until it succeeds, and returns the last error after the timeout.
func (t trial) run(ctx context.Context) (time.Duration, error) {
	started := time.Now()
	ctx, cancel := context.WithTimeout(ctx, t.within)
	defer cancel()
	for {
		err := t.once(ctx)
		if err == nil {
			return time.Since(started), nil
		}
		select {
		case <-ctx.Done():
			return 0, err
		case <-time.After(t.pause):
		}
	}
}

func (t trial) once(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, t.each)
	defer cancel()
	found, err := t.lookup(ctx, t.name)
	if err != nil {
		return fmt.Errorf("cannot resolve %s: %w", t.name, err)
	}
	if len(found) == 0 {
		return fmt.Errorf("DNS has no address for %s", t.name)
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(found[0], t.port))
	if err != nil {
		return fmt.Errorf("cannot reach %s: %w", t.name, err)
	}
	return connection.Close()
}
