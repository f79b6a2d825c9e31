package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// kubeconfig is which cluster to speak to, chosen as kubectl does.
type kubeconfig struct{ path, context, as string }

func (k *kubeconfig) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&k.path, "kubeconfig", "", "the kubeconfig file (default $KUBECONFIG, then ~/.kube/config)")
	flags.StringVar(&k.context, "context", "", "the context of the kubeconfig (default its current one)")
	flags.StringVar(&k.as, "as", "", "the user to act as")
	mustComplete(cmd, "context", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return k.contexts(), cobra.ShellCompDirectiveNoFileComp
	})
}

func (k *kubeconfig) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.path
	overrides := &clientcmd.ConfigOverrides{CurrentContext: k.context}
	overrides.AuthInfo.Impersonate = k.as
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
}

func (k *kubeconfig) contexts() []string {
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

// load returns how to reach the cluster, and the name of the context, which is what people call it.
func (k *kubeconfig) load() (*rest.Config, string, error) {
	loader := k.loader()
	raw, err := loader.RawConfig()
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, "", fmt.Errorf("there is no kubeconfig %s", cmp.Or(k.path, "where KUBECONFIG says"))
	case err != nil:
		return nil, "", fmt.Errorf("the kubeconfig cannot be read: %w", err)
	}
	name := cmp.Or(k.context, raw.CurrentContext)
	if _, known := raw.Contexts[name]; name != "" && !known {
		return nil, "", fmt.Errorf("the kubeconfig has no context %q; it has %s", name, orNone(k.contexts()))
	}
	config, err := loader.ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err) || (err == nil && config.Host == ""):
		return nil, "", errors.New("no cluster to speak to: say which with --kubeconfig or KUBECONFIG, or read a saved Snapshot with --from")
	case err != nil:
		return nil, "", fmt.Errorf("the kubeconfig cannot be used: %w", err)
	}
	return config, cmp.Or(name, config.Host), nil
}
