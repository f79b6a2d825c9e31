package result

import (
	"os"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/cli"
)

// A Flag is a flag of a component.
type Flag struct {
	Name       string `json:"name"`
	Deprecated string `json:"deprecated,omitempty"`
	Hidden     bool   `json:"hidden,omitempty"`
}

// Run runs the command of a component like its main function, but calls work instead of the
// component, with all flags defined.
func Run(command *cobra.Command, work func()) {
	command.Run = nil
	command.RunE = func(*cobra.Command, []string) error {
		work()
		return nil
	}
	command.SetArgs([]string{})
	os.Exit(cli.Run(command))
}

// Flags lists the flags of a set in alphabetical order.
func Flags(set *pflag.FlagSet) []Flag {
	var flags []Flag
	set.VisitAll(func(flag *pflag.Flag) {
		flags = append(flags, Flag{Name: flag.Name, Deprecated: deprecation(flag), Hidden: flag.Hidden && flag.Deprecated == ""})
	})
	return flags
}

// Some flags are deprecated only in their help text.
var inHelp = regexp.MustCompile(`^\(?DEPRECATED\b[:) ]*`)

// deprecation returns the deprecation message of a flag. pflag hides deprecated flags, which is not
// a fact of its own.
func deprecation(flag *pflag.Flag) string {
	if flag.Deprecated != "" {
		return flag.Deprecated
	}
	if found := inHelp.FindString(flag.Usage); found != "" {
		return flag.Usage[len(found):]
	}
	return ""
}
