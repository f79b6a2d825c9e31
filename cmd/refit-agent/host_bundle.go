package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/engine/supportbundle/archive"
	"github.com/refit-dev/refit/internal/engine/supportbundle/host"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

// hostBundle is the command of a collector Pod. Its flags are the arguments that the admission
// policy refit-agent-namespace accepts: none may name a file.
func (a *app) hostBundle() *cobra.Command {
	b := bundling{limit: supportbundle.DefaultLimits().Host}
	var since, until string
	c := &cobra.Command{
		Use:   "host-bundle",
		Short: "Print the journals of this host for a support bundle",
		Long: `host-bundle runs in a Pod that "refit support-bundle" creates on a node. It reads the journals of the
kubelet, containerd and the agent from read-only mounts, redacts secrets, and prints an archive as
lines of base64. Nothing else is printed, since the log of the Pod is the transport.`,
		Args: noArguments,
	}
	c.Flags().StringVar(&since, "since", "", "the begin of the journals, as an RFC 3339 `time`")
	c.Flags().StringVar(&until, "until", "", "the end of the journals, as an RFC 3339 `time`")
	c.Flags().Int64Var(&b.limit, "max-bytes", b.limit, "the maximum `number` of bytes of the journals")
	c.Flags().DurationVar(&b.timeout, "timeout", time.Minute, "print what was read after this `duration`")
	c.Flags().StringArrayVar(&b.redact, "redact", nil, "redact what this regular `expression` matches; can be repeated")
	c.RunE = func(c *cobra.Command, _ []string) error {
		options, err := b.options()
		if err != nil {
			return err
		}
		if options.Window, err = windowOf(since, until); err != nil {
			return err
		}
		return b.stream(c.Context(), &host.Reader{}, options, a.out)
	}
	return c
}

// windowOf parses the bounds of the journals.
func windowOf(since, until string) (w supportbundle.Window, err error) {
	if w.Since, err = time.Parse(time.RFC3339, since); err != nil {
		return w, usagef("--since must be a time such as 2026-11-19T08:00:00Z, not %q", since)
	}
	if w.Until, err = time.Parse(time.RFC3339, until); err != nil {
		return w, usagef("--until must be a time such as 2026-11-19T08:00:00Z, not %q", until)
	}
	return w, nil
}

// stream prints the archive of a host as text.
func (b *bundling) stream(ctx context.Context, r *host.Reader, o host.Options, to io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	stream := archive.NewStreamWriter(to)
	if _, err := (&host.Bundle{Version: version, Now: time.Now}).Write(ctx, r, o, stream); err != nil {
		return err // without its end, nobody takes the stream for complete
	}
	return stream.Close()
}
