package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/host"
)

//go:embed unit/refit-agent.service
var unit []byte

// Where the service lies.
const (
	program  = "/usr/local/bin/refit-agent"
	unitFile = "/etc/systemd/system/refit-agent.service"
	unitName = "refit-agent.service"
)

func (a *app) install() *cobra.Command {
	c := &cobra.Command{
		Use:   "install --key PUBLIC.pem",
		Short: "Install this program as a service on this host, pin keys, and start it",
		Long: `install copies this program to ` + program + `, writes its unit, pins the given public keys in ` + settings.Keys + `,
writes ` + settings.File + ` if there is none or if settings are given, and starts the service. It can be repeated.`,
		Example: `  refit-agent install --key release.pub.pem --source https://mirror.example/refit
  refit-agent install --key release.pub.pem --source /srv/refit --patches /etc/kubernetes/patches`,
		Args: cobra.NoArgs,
	}
	o := installOptions{}
	c.Flags().StringArrayVar(&o.keys, "key", nil, "public key file whose Releases may be installed; can be repeated")
	c.Flags().StringArrayVar(&o.sources, "source", nil, "where files come from: a folder, an http(s) address, oci:/path; can be repeated, tried in order")
	c.Flags().StringVar(&o.patches, "patches", "", "directory of kubeadm patches on this host")
	c.Flags().StringArrayVar(&o.ignore, "ignore-preflight-error", nil, "check of kubeadm whose error does not matter on this host; can be repeated")
	c.Flags().BoolVar(&o.noStart, "no-start", false, "install, but do not start the service")
	c.RunE = func(c *cobra.Command, _ []string) error { return a.doInstall(c.Context(), o) }
	return c
}

type installOptions struct {
	keys, sources, ignore []string
	patches               string
	noStart               bool
}

func (a *app) doInstall(ctx context.Context, o installOptions) error {
	if os.Geteuid() != 0 {
		return errors.New("install needs root")
	}
	if err := a.pin(o.keys); err != nil {
		return err
	}
	if err := a.writeSettings(o); err != nil {
		return err
	}
	changed, err := placeProgram()
	if err != nil {
		return err
	}
	if err := host.WriteFile(unitFile, unit, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s and %s are in place\n", program, unitFile)
	if o.noStart {
		return nil
	}
	return a.startService(ctx, changed)
}

// pin checks the keys and puts them where only root can change them.
func (a *app) pin(keys []string) error {
	if err := host.MkdirAll(settings.Keys, 0o700); err != nil {
		return err
	}
	for _, path := range keys {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		key, err := artifact.ParsePublic(text)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		name := strings.NewReplacer("SHA256:", "", "/", "_", "+", "-").Replace(key.ID) + ".pem"
		if err := host.WriteFile(filepath.Join(settings.Keys, name), text, 0o600); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "key %s is pinned\n", key.ID)
	}
	pinned, err := artifact.LoadKeys(settings.Keys)
	if err == nil && len(pinned) == 0 {
		err = errors.New("no key is pinned on this host, so no Release could be installed: give --key")
	}
	return err
}

func (a *app) writeSettings(o installOptions) error {
	_, err := os.Stat(a.settings)
	given := len(o.sources) > 0 || o.patches != "" || len(o.ignore) > 0
	if err == nil && !given {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s, err := a.load()
	if err != nil {
		return err
	}
	if len(o.sources) > 0 {
		s.Sources = o.sources
	}
	if o.patches != "" {
		s.Kubeadm.Patches = o.patches
	}
	if len(o.ignore) > 0 {
		s.Kubeadm.IgnorePreflightErrors = o.ignore
	}
	for _, source := range s.Sources {
		if _, err := artifact.ParseSource(source); err != nil {
			return err
		}
	}
	text, err := yaml.Marshal(s)
	if err != nil {
		return err
	}
	return host.WriteFile(a.settings, text, 0o600)
}

// placeProgram copies what runs now, unless it runs from there.
func placeProgram() (changed bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(self)
	if err != nil {
		return false, err
	}
	if there, err := os.ReadFile(program); err == nil && bytes.Equal(there, text) {
		return false, nil
	}
	return true, host.WriteFile(program, text, 0o755)
}

func (a *app) startService(ctx context.Context, changed bool) error {
	if _, err := host.Run(ctx, nil, "systemctl", "enable", "--quiet", unitName); err != nil {
		return err
	}
	systemd, err := host.ConnectSystemd(ctx)
	if err != nil {
		return err
	}
	defer systemd.Close()
	if err := systemd.Reload(ctx); err != nil {
		return err
	}
	start := systemd.Start
	if changed {
		start = systemd.Restart
	}
	if err := start(ctx, unitName); err != nil {
		return err
	}
	fmt.Fprintln(a.out, "the service runs: journalctl -u refit-agent")
	return nil
}
