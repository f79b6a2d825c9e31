package install

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
)

// The names that everybody agrees on: the manifests, the agents, and who looks for them.
const (
	SystemNamespace = "refit-system"
	AgentNamespace  = "refit-agent"

	agentName      = "refit-agent"
	removeName     = "refit-remove"
	controllerName = "refit-controller"
	agentPolicy    = "refit-agent-namespace"

	// settingsKey and keySuffix tell what is what in the agents' ConfigMap.
	settingsKey = "agent.yaml"
	keySuffix   = ".pem"
)

// What is written on everything that we install. Nothing without the first is ever removed.
const (
	labelManagedBy = "app.kubernetes.io/managed-by"
	managedBy      = "refit-install"
	labelPartOf    = "app.kubernetes.io/part-of"
	partOf         = "refit"
	labelName      = "app.kubernetes.io/name"

	// annotationTemplate tells pods of one template, and of one configuration, from those of another.
	annotationTemplate = "refit.dev/template"

	fieldManager = "refit-install"
)

// Options are what a person chose.
type Options struct {
	// Manifests are the files of package config.
	Manifests fs.FS
	// Version of Refit.
	Version string
	// Controller and Agent are the images.
	Controller, Agent string
	// Standalone leaves the controller out: the controllers run in the CLI's process.
	Standalone bool
	// Keys are the public keys whose ClusterReleases hosts install, by the name of their file (*.pem).
	Keys map[string]string
	// Settings are those of the agents, as YAML; empty: none.
	Settings string
}

var (
	keyName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}\.pem$`)
	// imageName keeps what is written into a policy's expression from being anything but a name.
	imageName = regexp.MustCompile(`^[a-z0-9][A-Za-z0-9._:/@-]*$`)
)

// ErrNoKeys is an install without a key: no host could install a ClusterRelease.
var ErrNoKeys = errors.New("there is no release key, so no host could install a ClusterRelease")

func (o *Options) check() error {
	for _, image := range []string{o.Controller, o.Agent} {
		if !imageName.MatchString(image) {
			return fmt.Errorf("%q is no image's name", image)
		}
	}
	if len(o.Keys) == 0 {
		return ErrNoKeys
	}
	for name := range o.Keys {
		if !keyName.MatchString(name) {
			return fmt.Errorf("%q is no name of a key's file", name)
		}
	}
	return nil
}
