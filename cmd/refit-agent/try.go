package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"
)

// trial is what `try` does.
type trial struct {
	name, port string
	within     time.Duration // all of it may take
	each       time.Duration // one attempt may take
	pause      time.Duration // between two
	look       func(ctx context.Context, name string) ([]string, error)
}

func (a *app) try() *cobra.Command {
	return &cobra.Command{
		Use:   "try",
		Short: "Find the API by its name and reach it, as a Pod of a user would",
		Long: `try is for a Pod that Refit makes on a control plane node after it was changed: that the Pod runs
proves its network and its runtime, that the name of the API is found proves DNS, and that it is
reached proves the way to Services. It tries for a minute.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t := trial{
				name: "kubernetes.default.svc", port: "443", within: time.Minute, each: 5 * time.Second, pause: time.Second,
				look: (&net.Resolver{PreferGo: true}).LookupHost,
			}
			took, err := t.run(c.Context())
			if err == nil {
				fmt.Fprintf(a.out, "%s is found and reached after %s\n", t.name, took.Round(time.Millisecond))
			}
			return err
		},
	}
}

// run tries until it works, and says what did not when the time is over.
func (t trial) run(ctx context.Context) (time.Duration, error) {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, t.within)
	defer cancel()
	for {
		err := t.once(ctx)
		if err == nil {
			return time.Since(begun), nil
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
	found, err := t.look(ctx, t.name)
	if err != nil {
		return fmt.Errorf("DNS does not tell where %s is: %w", t.name, err)
	}
	if len(found) == 0 {
		return fmt.Errorf("DNS knows no address of %s", t.name)
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(found[0], t.port))
	if err != nil {
		return fmt.Errorf("%s is not reached: %w", t.name, err)
	}
	return connection.Close()
}
