package release

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/artifact/create"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// Creation creates the content of a ClusterRelease.
type Creation struct {
	create.Options
	Upstream bool // take what is missing from Servers
	Servers  create.Online
	Kinds    []string // of the hosts, as in kindNames
}

// upstreamFlags are the flags that act only with --online.
var upstreamFlags = []string{"arch", "kind", "for-cluster", "downloads", "runc-downloads", "packages", "package-key", "image-repository"}

// Check validates the flags of the command; given reports whether the user set one.
func (c *Creation) Check(given func(flag string) bool) error {
	switch {
	case c.Kubernetes == "":
		return exit.Usagef("--kubernetes is required, for example --kubernetes v1.36.3")
	case len(c.Folders) == 0 && !c.Upstream:
		return exit.Usagef("--from DIRECTORY, --online or both are required")
	}
	for _, flag := range upstreamFlags {
		if !c.Upstream && given(flag) {
			return exit.Usagef("--%s requires --online", flag)
		}
	}
	if given("for-cluster") && (given("kind") || given("arch")) {
		return exit.Usagef("--for-cluster finds the kinds and platforms of the hosts: it excludes --kind and --arch")
	}
	if err := c.parseKinds(); err != nil {
		return err
	}
	version, err := request.ParseVersion(c.Kubernetes)
	if err != nil {
		return exit.Usagef("--kubernetes: %q is not a version like v1.36.3", c.Kubernetes)
	}
	c.Kubernetes = version
	return nil
}

// Create returns the content as JSON, and writes a summary to log.
func (c *Creation) Create(ctx context.Context, log io.Writer) ([]byte, error) {
	if c.Upstream {
		c.Online = &c.Servers
	}
	result, err := create.Payload(ctx, c.Options)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if wrong, ok := errors.AsType[create.WrongOptionError](err); ok {
		return nil, exit.UsageError{Err: wrong}
	}
	if err != nil {
		fmt.Fprint(log, text.ReleaseSkipped(madeFrom(&result)))
		return nil, fmt.Errorf("cannot create the ClusterRelease: %w", err)
	}
	if _, err := io.WriteString(log, text.ReleaseMade(madeFrom(&result))); err != nil {
		return nil, fmt.Errorf("cannot write the summary: %w", err)
	}
	return document.JSON(result.Payload)
}

func madeFrom(r *create.Result) *text.MadeRelease {
	out := &text.MadeRelease{Payload: r.Payload, Warnings: r.Warnings}
	for _, s := range r.Skipped {
		out.Skipped = append(out.Skipped, text.SkippedFiles(s))
	}
	return out
}
