package bundling

import (
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/refit-dev/refit/internal/cli/exit"
	engine "github.com/refit-dev/refit/internal/engine/supportbundle"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

// Flags are the values of the flags as the user typed them.
type Flags struct {
	// File is the archive to create; empty: a name with the cluster and the time.
	File    string
	Nodes   []string
	Since   time.Duration // zero: the time of the operation
	Redact  []string
	Verbose bool

	// The sizes are quantities, such as 256Mi.
	Size, HostSize, LogSize string
	Timeout, HostTimeout    time.Duration
	Hosts                   int
}

// DefaultFlags are the values without flags.
func DefaultFlags() Flags {
	limits := supportbundle.DefaultLimits()
	return Flags{
		Size: quantity(limits.Total), HostSize: quantity(limits.Host), LogSize: quantity(limits.Log),
		Timeout: limits.Timeout, HostTimeout: limits.HostTimeout, Hosts: limits.Hosts,
	}
}

func quantity(bytes int64) string { return resource.NewQuantity(bytes, resource.BinarySI).String() }

// Options validates the flags.
func (f *Flags) Options(operation string) (engine.Options, error) {
	o := engine.Options{Operation: operation, Nodes: f.Nodes, Period: f.Since}
	o.Limits = supportbundle.Limits{Timeout: f.Timeout, HostTimeout: f.HostTimeout, Hosts: f.Hosts}
	for _, size := range []struct {
		flag, text string
		to         *int64
	}{{"--max-size", f.Size, &o.Limits.Total}, {"--max-host-size", f.HostSize, &o.Limits.Host}, {"--max-log-size", f.LogSize, &o.Limits.Log}} {
		parsed, err := resource.ParseQuantity(size.text)
		if err != nil {
			return o, exit.Usagef("%s must be a size such as 64Mi, not %q", size.flag, size.text)
		}
		*size.to = parsed.Value()
	}
	if err := o.Limits.Validate(); err != nil {
		return o, exit.UsageError{Err: err}
	}
	if f.Since < 0 {
		return o, exit.Usagef("--since must be positive, not %s", f.Since)
	}
	for _, text := range f.Redact {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return o, exit.Usagef("--redact: %w", err)
		}
		o.Patterns = append(o.Patterns, pattern)
	}
	return o, nil
}
