package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/agentsocket"
	"github.com/refit-dev/refit/internal/upgrade/hoststatus"
)

// follow prints each change that the running agent reports, until the context ends.
func (a *app) follow(ctx context.Context, socket, format string) error {
	follower := &agentsocket.Follower{
		Socket: socket,
		Report: func(s *cliv1alpha1.HostStatus) error { return a.printChange(s, format) },
		Lost: func(err error) {
			fmt.Fprintf(a.err, "refit-agent: cannot follow the agent, connecting again: %s\n", printable(err.Error()))
		},
		Found: func() { fmt.Fprintln(a.err, "refit-agent: connected to the agent") },
	}
	err := follower.Follow(ctx)
	if errors.Is(err, context.Canceled) {
		return nil // interrupted by the user
	}
	return err
}

func (a *app) printChange(s *cliv1alpha1.HostStatus, format string) error {
	if format == outputJSON {
		text, err := encode(s, "")
		if err != nil {
			return err
		}
		_, err = a.out.Write(text)
		return err
	}
	_, err := fmt.Fprintf(a.out, "%s  %s\n", s.ObservedAt.UTC().Format(time.TimeOnly), printable(hoststatus.Line(s)))
	return err
}

// printable removes what a terminal would interpret.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if plainRune(r) {
			return r
		}
		return ' '
	}, text)
}
