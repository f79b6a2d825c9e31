package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/artifact/create"
)

// creation has the flags of `refit release create`.
type creation struct {
	create.Options
	online  bool
	servers create.Online
}

func newReleaseCreateCommand(a *app) *cobra.Command {
	c := &creation{}
	cmd := &cobra.Command{
		Use:   "create --kubernetes VERSION --from DIRECTORY | --online",
		Short: "Make a ClusterRelease from files, or from what upstream publishes",
		Long: `Makes the content of a ClusterRelease and writes it to standard output, as JSON to be read and
signed.

With --from it looks through directories for programs (kubeadm, kubelet, kubectl, containerd, its
shim, ctr, runc, CNI plugins), Debian packages of the same, and archives of the images that kubeadm
wants (as docker save or ctr images export write them), for every platform that they have. Each is
asked what it is; programs are run for that with nothing but a question for their version. What is
of another version is left, and counted. Copy the directories to the hosts, or serve them, as they
are: hosts find each file by its path in there.

With --online it takes the addresses and checksums of Kubernetes' programs and images from upstream
(dl.k8s.io, registry.k8s.io) for what the directories do not have, and runc's with --runc. Nothing
but checksums is fetched. Hosts must reach these addresses, or a mirror of them. containerd and the
CNI plugins are published as archives: unpack them, and give the directory with --from.

A ClusterRelease that a kubeadm host could not be upgraded with is refused, with what it lacks.`,
		Example: a.example(
			"release create --kubernetes v1.36.3 --from /srv/refit > v1.36.3.json",
			"release create --kubernetes v1.36.3 --from bin --from images --without runc > v1.36.3.json",
			"release create --kubernetes v1.36.3 --online --arch amd64 --arch arm64 > v1.36.3.json",
		),
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd, a) },
	}
	flags := cmd.Flags()
	flags.StringVar(&c.Kubernetes, "kubernetes", "", "the `VERSION` of Kubernetes, such as v1.36.3")
	flags.StringArrayVar(&c.Folders, "from", nil, "a `DIRECTORY` to look through; can be given several times")
	flags.BoolVar(&c.online, "online", false, "take what is missing from upstream")
	flags.StringArrayVar(&c.servers.Archs, "arch", []string{"amd64"}, "with --online: a `PLATFORM`, as in amd64; can be given several times")
	flags.StringVar(&c.Containerd, "containerd", "", "the `VERSION` of containerd, where several are found")
	flags.StringVar(&c.Runc, "runc", "", "the `VERSION` of runc, where several are found; with --online from upstream")
	flags.StringVar(&c.CNIPlugins, "cni-plugins", "", "the `VERSION` of the CNI plugins, where several are found")
	flags.StringVar(&c.Etcd, "etcd", "", "the `TAG` of etcd's image, where it is not the one that kubeadm wants")
	flags.StringVar(&c.CoreDNS, "coredns", "", "the `TAG` of CoreDNS's image, the same")
	flags.StringVar(&c.Pause, "pause", "", "the `TAG` of the pause image, the same")
	flags.StringArrayVar(&c.Without, "without", nil, "leave a `PART` out: "+strings.Join(create.Optional(), ", "))
	flags.StringVar(&c.servers.Downloads, "downloads", create.Downloads, "with --online: the `URL` of Kubernetes' programs")
	flags.StringVar(&c.servers.RuncDownloads, "runc-downloads", create.RuncDownloads, "with --online: the `URL` of runc's releases")
	flags.StringVar(&c.servers.Repository, "image-repository", create.Repository, "with --online: the `REPOSITORY` of the images")
	flags.SortFlags = false
	return cmd
}

func (c *creation) run(cmd *cobra.Command, a *app) error {
	switch {
	case c.Kubernetes == "":
		return exit.Usagef("say which version to make a ClusterRelease of: --kubernetes v1.36.3")
	case len(c.Folders) == 0 && !c.online:
		return exit.Usagef("say what to make it from: --from DIRECTORY, --online, or both")
	}
	if !strings.HasPrefix(c.Kubernetes, "v") {
		c.Kubernetes = "v" + c.Kubernetes
	}
	if c.online {
		c.Online = &c.servers
	}
	result, err := create.Payload(cmd.Context(), c.Options)
	if cmd.Context().Err() != nil {
		return cmd.Context().Err()
	}
	if wrong, ok := errors.AsType[create.WrongOptionError](err); ok {
		return exit.UsageError{Err: wrong}
	}
	if err != nil {
		return fmt.Errorf("no ClusterRelease was made: %w", err)
	}
	out, err := document.JSON(result.Payload)
	if err != nil {
		return err
	}
	if _, err := a.Err.Write([]byte(text.ReleaseMade(madeFrom(&result)))); err != nil {
		return fmt.Errorf("write what was found: %w", err)
	}
	return a.Print(out)
}

func madeFrom(r *create.Result) *text.MadeRelease {
	out := &text.MadeRelease{Payload: r.Payload, Warnings: r.Warnings}
	for _, s := range r.Skipped {
		out.Skipped = append(out.Skipped, text.SkippedFiles(s))
	}
	return out
}
