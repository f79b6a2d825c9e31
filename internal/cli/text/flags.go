package text

import (
	"slices"

	"github.com/spf13/pflag"
)

// outputFlags are not copied to another command.
var outputFlags = []string{"output", "wide", "verbose", "timeout"}

// CommonFlags returns the flags of a command line that another command supports, to copy.
func CommonFlags(of, other *pflag.FlagSet) (words []string) {
	of.VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed || other.Lookup(flag.Name) == nil || slices.Contains(outputFlags, flag.Name) {
			return
		}
		if flag.Value.Type() == "bool" {
			words = append(words, "--"+flag.Name)
			return
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			words = append(words, "--"+flag.Name, Quote(value))
		}
	})
	return words
}
