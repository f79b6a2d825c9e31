package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/agent"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/supportbundle/archive"
	"github.com/refit-dev/refit/internal/engine/supportbundle/host"
	"github.com/refit-dev/refit/internal/upgrade/redact"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

// bundling has the flags that bound the bundle of a host.
type bundling struct {
	limit   int64
	timeout time.Duration
	redact  []string
}

// options returns what is read. The caller sets the time.
func (b *bundling) options() (host.Options, error) {
	limits := supportbundle.DefaultLimits()
	limits.Host, limits.HostTimeout = b.limit, b.timeout
	if err := limits.Validate(); err != nil {
		return host.Options{}, usageError{err}
	}
	var patterns []*regexp.Regexp
	for _, text := range b.redact {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return host.Options{}, usagef("--redact: %w", err)
		}
		patterns = append(patterns, pattern)
	}
	return host.Options{Limit: b.limit, Redact: redact.New(patterns...), Report: func(string) {}}, nil
}

func (a *app) supportBundle() *cobra.Command {
	var b bundling
	var file, size, output string
	var since time.Duration
	c := &cobra.Command{
		Use:   "support-bundle",
		Short: "Collect the journals and the state of this host into a file, without the API",
		Long: `support-bundle writes the journals of the kubelet, containerd and the agent, the status of the agent
and the journals of its upgrades into a compressed tar archive. Use it on a host that the cluster
cannot reach; "refit support-bundle" collects a whole cluster.

Secrets are redacted before they are written: private keys, tokens, passwords, and what --redact
matches. Nothing on the host changes but the new file, which only its owner may read.`,
		Example: `  # Collect the last day
  refit-agent support-bundle

  # Collect the last two hours into a file of your choice
  refit-agent support-bundle --since 2h --file /root/worker-1.tar.gz`,
		Args: noArguments,
	}
	c.Flags().StringVar(&file, "file", "", "the `file` to create (default refit-support-bundle-HOST-TIME.tar.gz)")
	c.Flags().DurationVar(&since, "since", supportbundle.DefaultPeriod, "how far back the journals are read, as a `duration`")
	c.Flags().StringVar(&size, "max-size", "64Mi", "the maximum `size` of the journals before compression")
	c.Flags().DurationVar(&b.timeout, "timeout", supportbundle.DefaultLimits().Timeout, "write what was read after this `duration`")
	c.Flags().StringArrayVar(&b.redact, "redact", nil, "redact what this regular `expression` matches, beside all known secrets; can be repeated")
	c.Flags().StringVarP(&output, "output", "o", outputText, "output `format`: text, json or yaml")
	c.RunE = func(c *cobra.Command, _ []string) error {
		format, err := parseOutput(output, false)
		if err != nil {
			return err
		}
		quantity, err := resource.ParseQuantity(size)
		if err != nil {
			return usagef("--max-size must be a size such as 64Mi, not %q", size)
		}
		b.limit = quantity.Value()
		options, err := b.options()
		if err != nil {
			return err
		}
		if since <= 0 {
			return usagef("--since must be positive")
		}
		if err := needsRoot("support-bundle"); err != nil {
			return err
		}
		s, err := a.load()
		if err != nil {
			return err
		}
		now := time.Now()
		options.Window = supportbundle.WindowOf(nil, since, now)
		options.Report = func(activity string) { fmt.Fprintf(a.err, "Reading the %s\n", activity) }
		name, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("cannot get the name of this host: %w", err)
		}
		if file == "" {
			file = supportbundle.Root(name, now) + ".tar.gz"
		}
		index, err := b.write(c.Context(), name, hostOf(s), options, file)
		if err != nil {
			return err
		}
		return a.printBundle(index, format)
	}
	return c
}

// hostOf returns this host, with the files and the status of its agent.
func hostOf(s settings.Settings) *host.Reader {
	return &host.Reader{StateDir: s.StateDir, Status: func(context.Context) ([]byte, error) {
		document, err := agent.StatusDocument(s, time.Now())
		if err != nil {
			return nil, err
		}
		return encode(document, "  ")
	}}
}

// write creates the file of a bundle.
func (b *bundling) write(ctx context.Context, name string, r *host.Reader, o host.Options, file string) (index *cliv1alpha1.SupportBundle, err error) {
	limited, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	err = archive.File(file, func(to io.Writer) error {
		index, err = (&host.Bundle{Host: name, Version: version, Now: time.Now}).Write(limited, r, o, to)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx) // interrupted; a timeout only ends parts
		}
		return supportbundle.CheckNotEmpty(index)
	})
	if err != nil {
		return nil, err
	}
	index.File = file
	return index, nil
}

func (a *app) printBundle(index *cliv1alpha1.SupportBundle, format string) error {
	if format != outputText {
		return writeDocument(a.out, index, format)
	}
	for i := range index.Parts {
		if p := &index.Parts[i]; p.Error != nil {
			fmt.Fprintf(a.out, "Missing: %s\n  %s\n  remedy: %s\n", printable(p.Source), printable(p.Error.Message), p.Error.Remedy)
		}
	}
	fmt.Fprintf(a.out, "The support bundle of %s is in %s. Secrets are redacted; check the content before you share it.\n", index.Host, index.File)
	return nil
}
