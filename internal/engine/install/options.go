package install

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// The names that manifests, agents and this package share.
const (
	SystemNamespace     = cluster.ControllerNamespace
	AgentNamespace      = "refit-agent"
	ComponentsNamespace = cluster.ComponentsNamespace

	agentName      = "refit-agent"
	removeName     = "refit-remove"
	controllerName = cluster.ControllerName
	componentsName = cluster.ComponentsName
	agentPolicy    = "refit-agent-namespace"

	// settingsKey is the settings in the agents' ConfigMap; keys of releases end in keySuffix.
	settingsKey = "agent.yaml"
	keySuffix   = ".pem"
	// storesKey is the recipients and locations of backups that control plane hosts allow.
	storesKey = "stores.yaml"
)

// The labels of every installed object. An object without labelManagedBy is never deleted.
const (
	labelManagedBy = "app.kubernetes.io/managed-by"
	managedBy      = "refit-install"
	managedByHelm  = "Helm" // set by Helm itself
	labelPartOf    = "app.kubernetes.io/part-of"
	partOf         = "refit"
	labelName      = "app.kubernetes.io/name"

	// annotationTemplate is a hash of the pod template and its configuration.
	annotationTemplate = "refit.dev/template"

	fieldManager = "refit-install"
)

// Options are what the user chose.
type Options struct {
	// Manifests are the files of package config.
	Manifests fs.FS
	// Version is the version of Refit.
	Version string
	// Controller and Agent are the images.
	Controller, Agent string
	// AgentChosen: the user named the repository of Agent, so Remove uses it even if the cluster
	// has another image.
	AgentChosen bool
	// PullSecrets are the names of Secrets, in the namespaces of the pods, with which nodes pull
	// the images. NoPullSecrets removes all of them, also those that others have set.
	PullSecrets   []string
	NoPullSecrets bool
	// Tolerations of the controller and of refit-components, in addition to the default ones.
	Tolerations []corev1.Toleration
	// Traces is the URL of an OpenTelemetry collector; empty: no traces.
	Traces string
	// Standalone omits the controller: the controllers run in the process of the CLI.
	Standalone bool
	// Components is the image of refit-components; empty: it is not installed.
	Components string
	// Keys are the public keys of ClusterReleases that hosts accept, by file name (*.pem).
	Keys map[string]string
	// Settings are the settings of the agents as YAML. Empty means the defaults.
	Settings string
	// Stores are the recipients and locations of backups that control plane hosts allow, as YAML.
	// Empty means none.
	Stores string
}

var (
	keyName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}\.pem$`)
	// imageName keeps an image from being anything but a name in the expression of a policy.
	imageName = regexp.MustCompile(`^[a-z0-9][A-Za-z0-9._:/@-]*$`)
)

// ErrNoKeys is returned for an install without a key: no host could verify a ClusterRelease.
var ErrNoKeys = errors.New("cannot install Refit without a release key: hosts verify ClusterReleases with it")

func (o *Options) check() error {
	for _, image := range []string{o.Controller, o.Agent, cmp.Or(o.Components, o.Agent)} {
		if !imageName.MatchString(image) {
			return fmt.Errorf("%q is not an image name", image)
		}
	}
	for _, name := range o.PullSecrets {
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			return fmt.Errorf("%q is not the name of a Secret", name)
		}
	}
	if len(o.Keys) == 0 {
		return ErrNoKeys
	}
	for name := range o.Keys {
		if !keyName.MatchString(name) {
			return fmt.Errorf("%q is not a key file name", name)
		}
	}
	return nil
}
