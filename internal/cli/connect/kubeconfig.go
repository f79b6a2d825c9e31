package connect

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Kubeconfig selects a cluster and a user. Empty fields mean the same as with kubectl.
type Kubeconfig struct {
	Path    string
	Context string
	As      string // the user to impersonate
}

// Given is the first flag that selects a cluster or a user, empty if there is none.
func (k *Kubeconfig) Given() string {
	switch {
	case k.Path != "":
		return "--kubeconfig"
	case k.Context != "":
		return "--context"
	case k.As != "":
		return "--as"
	}
	return ""
}

func (k *Kubeconfig) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.Path
	overrides := &clientcmd.ConfigOverrides{CurrentContext: k.Context}
	overrides.AuthInfo.Impersonate = k.As
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
}

// Contexts returns the names of the contexts in the kubeconfig.
func (k *Kubeconfig) Contexts() []string {
	raw, err := k.loader().RawConfig()
	if err != nil {
		return nil
	}
	var names []string
	for name := range raw.Contexts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Load returns the connection to the cluster and the name of the context, by which users know the
// cluster.
func (k *Kubeconfig) Load() (*rest.Config, string, error) {
	loader := k.loader()
	raw, err := loader.RawConfig()
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, "", fmt.Errorf("kubeconfig %s not found", cmp.Or(k.Path, "in KUBECONFIG"))
	case err != nil:
		return nil, "", fmt.Errorf("cannot read the kubeconfig: %w", err)
	}
	name := cmp.Or(k.Context, raw.CurrentContext)
	if _, known := raw.Contexts[name]; name != "" && !known {
		return nil, "", fmt.Errorf("the kubeconfig has no context %q; it has %s", name, orNone(k.Contexts()))
	}
	config, err := loader.ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err) && missingFiles() != "":
		return nil, "", fmt.Errorf("kubeconfig %s, named by KUBECONFIG, not found", missingFiles())
	case clientcmd.IsEmptyConfig(err) || (err == nil && config.Host == ""):
		return nil, "", errors.New("no cluster is configured: use --kubeconfig or KUBECONFIG")
	case err != nil:
		return nil, "", fmt.Errorf("cannot use the kubeconfig: %w", err)
	}
	return config, cmp.Or(name, config.Host), nil
}

// missingFiles returns KUBECONFIG if none of its files exists, otherwise an empty string.
func missingFiles() string {
	value := os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	for _, path := range filepath.SplitList(value) {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			return ""
		}
	}
	return value
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
