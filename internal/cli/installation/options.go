package installation

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/install"
)

// DefaultRepository is the repository of Refit's images.
const DefaultRepository = "ghcr.io/refit-dev"

// Choice has the user's options. Everything else keeps its value in the cluster, or has its
// default.
type Choice struct {
	KeyFiles, Sources []string
	Trust             Trust
	Repository        string
	// PullSecrets and Tolerations, as users write them; None alone removes the current ones.
	PullSecrets, Tolerations []string
	// Traces is the URL of an OpenTelemetry collector; None removes the current one.
	Traces     string
	Standalone bool
	// Components installs refit-components, if ComponentsChosen; false removes it.
	Components, ComponentsChosen bool

	Version   string // of Refit
	Manifests fs.FS

	keys        map[string]string // read from KeyFiles and Trust
	tolerations []corev1.Toleration
}

// None is the value that removes what is set in the cluster.
const None = "none"

var (
	repositoryName = regexp.MustCompile(`^[a-z0-9][a-z0-9._:/-]*[a-z0-9]$`)
	tagName        = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
)

// Read validates the choice and reads the keys, before there is a connection to a cluster.
func (c *Choice) Read(ctx context.Context) error {
	if c.Repository != "" && !repositoryName.MatchString(c.Repository) {
		return exit.Usagef("--image-repository: %q is not a repository such as registry.example/refit", c.Repository)
	}
	for _, source := range c.Sources {
		if err := checkSource(source); err != nil {
			return exit.Usagef("--source: %w", err)
		}
	}
	if err := c.checkPods(); err != nil {
		return err
	}
	if err := c.Trust.check(); err != nil {
		return err
	}
	for _, path := range c.KeyFiles {
		raw, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("cannot read the key: %w", err)
		}
		key, err := artifact.ParsePublic(raw)
		if err != nil {
			return fmt.Errorf("cannot read the public key in %s: %w", path, err)
		}
		c.pin(key, raw)
	}
	return c.Trust.read(ctx, c.pin)
}

// pin adds a key that hosts accept.
func (c *Choice) pin(key artifact.PublicKey, text []byte) {
	if c.keys == nil {
		c.keys = map[string]string{}
	}
	c.keys[strings.NewReplacer("SHA256:", "", "/", "_", "+", "-").Replace(key.ID)+".pem"] = string(text)
}

// checkSource rejects a source that no agent could use.
func checkSource(source string) error {
	if _, err := artifact.ParseSource(source); err != nil {
		return err
	}
	path := strings.TrimPrefix(source, "oci:")
	for _, hidden := range []string{"/home", "/root", "/tmp"} {
		if path == hidden || strings.HasPrefix(path, hidden+string(filepath.Separator)) {
			return fmt.Errorf("the agent's service cannot read files below %s: choose another directory than %s", hidden, path)
		}
	}
	return nil
}

// options returns the complete options of the installation.
func (c *Choice) options(existing install.Existing) (install.Options, error) {
	if !tagName.MatchString(c.Version) {
		return install.Options{}, fmt.Errorf("cannot choose images: %q is not an image tag. Build Refit with a version", c.Version)
	}
	repository := cmp.Or(c.Repository, existing.Repository, DefaultRepository)
	o := install.Options{
		Manifests: c.Manifests, Version: c.Version, Standalone: c.Standalone, Keys: existing.Keys, Settings: existing.Settings, Stores: existing.Stores,
		Agent: repository + "/refit-agent:" + c.Version, Controller: repository + "/refit-controller:" + c.Version,
		PullSecrets: existing.PullSecrets, Tolerations: existing.Tolerations, Traces: existing.Traces,
	}
	if c.ComponentsChosen && c.Components || !c.ComponentsChosen && existing.Components {
		o.Components = repository + "/refit-components:" + c.Version
	}
	if c.Traces != "" {
		o.Traces = strings.TrimPrefix(c.Traces, None)
	}
	if len(c.PullSecrets) > 0 {
		o.PullSecrets = without(c.PullSecrets)
		o.NoPullSecrets = len(o.PullSecrets) == 0
	}
	if len(c.Tolerations) > 0 {
		o.Tolerations = c.tolerations
	}
	if c.keys != nil {
		o.Keys = c.keys
	}
	if len(c.Sources) == 0 {
		return o, nil
	}
	var err error
	o.Settings, err = install.WithSources(existing.Settings, c.Sources)
	return o, err
}
