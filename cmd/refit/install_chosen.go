package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refit-dev/refit/config"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/install"
)

// defaultRepository is where our images are.
const defaultRepository = "ghcr.io/refit-dev"

// chosen is what a person says of an install; all else stays as it is in the cluster, or is as always.
type chosen struct {
	keyFiles, sources []string
	repository        string
	standalone        bool

	keys map[string]string // read from keyFiles
}

func (c *chosen) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&c.keyFiles, "release-key", nil, "a public key's `FILE` to pin on hosts; can be given several times, and then these are all")
	flags.StringArrayVar(&c.sources, "source", nil,
		"a `SOURCE` where hosts get files from: a folder on them, https://..., oci:/path; can be given several times, tried in order")
	c.addRepositoryFlag(cmd)
}

func (c *chosen) addRepositoryFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.repository, "image-repository", "", "the `REPOSITORY` of the images (default the one in use, then "+defaultRepository+")")
}

var (
	repositoryName = regexp.MustCompile(`^[a-z0-9][a-z0-9._:/-]*[a-z0-9]$`)
	tagName        = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
)

// read looks at what was given, before a cluster is asked.
func (c *chosen) read() error {
	if c.repository != "" && !repositoryName.MatchString(c.repository) {
		return usage("--image-repository: %q is no repository such as registry.example/refit", c.repository)
	}
	for _, source := range c.sources {
		if err := checkSource(source); err != nil {
			return usage("--source: %w", err)
		}
	}
	for _, path := range c.keyFiles {
		raw, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("the key cannot be read: %w", err)
		}
		key, err := artifact.ParsePublic(raw)
		if err != nil {
			return fmt.Errorf("%s is no public key: %w", path, err)
		}
		if c.keys == nil {
			c.keys = map[string]string{}
		}
		c.keys[strings.NewReplacer("SHA256:", "", "/", "_", "+", "-").Replace(key.ID)+".pem"] = string(raw)
	}
	return nil
}

// checkSource refuses a source that no agent could use.
func checkSource(source string) error {
	if _, err := artifact.ParseSource(source); err != nil {
		return err
	}
	path := strings.TrimPrefix(source, "oci:")
	for _, hidden := range []string{"/home", "/root", "/tmp"} {
		if path == hidden || strings.HasPrefix(path, hidden+string(filepath.Separator)) {
			return fmt.Errorf("the agent's service does not see what is below %s: choose another folder than %s", hidden, path)
		}
	}
	return nil
}

// options are the whole of what is installed.
func (c *chosen) options(existing install.Existing) (install.Options, error) {
	version := versionOf().Version
	if !tagName.MatchString(version) {
		return install.Options{}, fmt.Errorf("%q is no tag of an image: build Refit with a version", version)
	}
	repository := defaultRepository
	for _, better := range []string{existing.Repository, c.repository} {
		if better != "" {
			repository = better
		}
	}
	o := install.Options{
		Manifests: config.Files, Version: version, Standalone: c.standalone, Keys: existing.Keys, Settings: existing.Settings,
		Agent: repository + "/refit-agent:" + version, Controller: repository + "/refit-controller:" + version,
	}
	if c.keys != nil {
		o.Keys = c.keys
	}
	if len(c.sources) == 0 {
		return o, nil
	}
	var err error
	o.Settings, err = install.WithSources(existing.Settings, c.sources)
	return o, err
}
