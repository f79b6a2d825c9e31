package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every two of these flags exclude each other in a command that has both.
var contradicting = []string{"list", "cancel", "dry-run", "render", "yes"}

func TestContradictoryFlagsAreRejected(t *testing.T) {
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		for _, child := range c.Commands() {
			walk(child, append(slices.Clone(path), child.Name()))
		}
		for i, one := range contradicting {
			for _, other := range contradicting[i+1:] {
				name := strings.Join(append(slices.Clone(path), one, other), " ")
				if c.Flags().Lookup(one) == nil || c.Flags().Lookup(other) == nil {
					continue
				}
				t.Run(name, func(t *testing.T) {
					l := newLine(t)
					if code := l.run(t, append(slices.Clone(path), "--"+one, "--"+other)...); code != 2 || !strings.Contains(l.err.String(), "exclude each other") {
						t.Errorf("exit code %d: %s", code, l.err.String())
					}
				})
			}
		}
	}
	walk(newRootCommand(newLine(t).app), nil)
}
