package main

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every two of these flags exclude each other in a command that has both.
var contradicting = []string{"list", "cancel", "dry-run", "render", "yes"}

// compatible are those that do not.
var compatible = []string{"restore cancel yes"}

func TestContradictoryFlagsAreRejected(t *testing.T) {
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		for _, child := range c.Commands() {
			walk(child, append(slices.Clone(path), child.Name()))
		}
		for i, one := range contradicting {
			for _, other := range contradicting[i+1:] {
				name := strings.Join(append(slices.Clone(path), one, other), " ")
				if c.Flags().Lookup(one) == nil || c.Flags().Lookup(other) == nil || slices.Contains(compatible, name) {
					continue
				}
				t.Run(name, func(t *testing.T) {
					_, err := run(t, append(slices.Clone(path), "--"+one, "--"+other)...)
					if _, usage := errors.AsType[usageError](err); !usage || !strings.Contains(err.Error(), "exclude each other") {
						t.Errorf("got %v", err)
					}
				})
			}
		}
	}
	walk(command(io.Discard, io.Discard), nil)
}
