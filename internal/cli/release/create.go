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
	// ComponentsFile lists the components, by the paths of their charts; empty: there are none.
	ComponentsFile string
	// ConfigurationFile is the part of kubeadm's ClusterConfiguration that the ClusterRelease sets;
	// empty: none.
	ConfigurationFile string
	// Reading starts to report what is read, until its End. It may be nil.
	Reading func(name string) Reading

	repositoryGiven bool // the user named the repository of the images
}

// Reading reports what is read: *terminal.Reading.
type Reading interface {
	Part(what string)
	End()
}

// read reports each file and each request: a slow server must not look like a hung command.
func (c *Creation) read(call func(doing func(what string)) error) error {
	if c.Reading == nil {
		return call(nil)
	}
	reading := c.Reading("Kubernetes " + c.Kubernetes)
	defer reading.End()
	return call(reading.Part)
}

// upstreamFlags are the flags that act only with --online.
var upstreamFlags = []string{
	"arch", "kind", "for-cluster", "downloads", "containerd-downloads", "runc-downloads", "cni-downloads", "packages", "package-key", "accept-digest",
	"image-repository", "image-mirror",
}

// AddDownloads adds the flags of the servers of binaries and archives, with StringVar of a flag
// set.
func (c *Creation) AddDownloads(add func(to *string, flag, value, usage string)) {
	add(&c.Servers.Downloads, "downloads", create.Downloads, "with --online: the `URL` of Kubernetes' binaries")
	add(&c.Servers.ContainerdDownloads, "containerd-downloads", "", "with --online: the `URL` of containerd's releases (default on GitHub)")
	add(&c.Servers.RuncDownloads, "runc-downloads", create.RuncDownloads, "with --online: the `URL` of runc's releases")
	add(&c.Servers.CNIDownloads, "cni-downloads", "", "with --online: the `URL` of the releases of the CNI plugins (default on GitHub)")
}

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
	if c.Upstream {
		if err := c.useMirrors(given); err != nil {
			return err
		}
		if _, ok := request.ParseMinor(c.Kubernetes); ok {
			return nil // Resolve finds the patch release
		}
	}
	version, err := request.ParseVersion(c.Kubernetes)
	if err != nil {
		return exit.Usagef("%q is not a version like v1.36.3", c.Kubernetes)
	}
	c.Kubernetes = version
	return nil
}

// Resolve replaces a minor version, such as v1.36, by its newest patch release that upstream has
// for the hosts.
func (c *Creation) Resolve(ctx context.Context) error {
	minor, ok := request.ParseMinor(c.Kubernetes)
	if !ok {
		return nil
	}
	return c.read(func(doing func(string)) error {
		version, err := c.Servers.Newest(ctx, minor, doing)
		if wrong, ok := errors.AsType[create.WrongOptionError](err); ok {
			return exit.UsageError{Err: wrong}
		}
		if err != nil {
			return fmt.Errorf("cannot find the newest patch release of v%s: %w", minor, err)
		}
		c.Kubernetes = version
		return nil
	})
}

// Create returns the content as JSON, and writes a summary to log.
func (c *Creation) Create(ctx context.Context, log io.Writer) ([]byte, error) {
	if c.ConfigurationFile != "" {
		var err error
		if c.ClusterConfiguration, err = readConfiguration(c.ConfigurationFile); err != nil {
			return nil, err
		}
	}
	if c.Upstream {
		c.Online = &c.Servers
		if err := c.Resolve(ctx); err != nil {
			return nil, err
		}
	}
	var result create.Result
	add := &packed{}
	err := c.read(func(doing func(string)) (err error) {
		if c.ComponentsFile != "" {
			if add, err = pack(ctx, c.ComponentsFile, c.Kubernetes, doing); err != nil {
				return err
			}
		}
		c.Doing, c.Images = doing, add.images
		result, err = create.Payload(ctx, c.Options)
		return err
	})
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
	made := madeFrom(&result)
	made.Components = add.components
	if _, err := io.WriteString(log, text.ReleaseMade(made)); err != nil {
		return nil, fmt.Errorf("cannot write the summary: %w", err)
	}
	return document.JSON(unsigned{result.Payload, add.components, add.form, add.charts})
}

func madeFrom(r *create.Result) *text.MadeRelease {
	out := &text.MadeRelease{Payload: r.Payload, Warnings: r.Warnings}
	for _, s := range r.Skipped {
		out.Skipped = append(out.Skipped, text.SkippedFiles(s))
	}
	return out
}
