//go:build apiserver

package helm

import (
	"io"
	"log/slog"
	"path/filepath"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// bareConfig configures Helm as its CLI does.
func bareConfig(t *testing.T, config *rest.Config, namespace string) *action.Configuration {
	t.Helper()
	configuration := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	must(t, configuration.Init(bareGetter{config, namespace}, namespace, ""))
	configuration.KubeClient.(*kube.Client).Namespace = namespace
	configuration.HookOutputFunc = func(_, _, _ string) io.Writer { return io.Discard }
	return configuration
}

// bareInstall installs a chart with Helm alone.
func bareInstall(t *testing.T, config *rest.Config, namespace, name string, chart *chartv2.Chart, serverSide bool) {
	t.Helper()
	install := action.NewInstall(bareConfig(t, config, namespace))
	install.ReleaseName, install.Namespace, install.ServerSideApply, install.WaitStrategy = name, namespace, serverSide, kube.HookOnlyStrategy
	_, err := install.Run(chart, nil)
	must(t, err)
}

func bareUpgrade(t *testing.T, config *rest.Config, namespace, name string, chart *chartv2.Chart) error {
	t.Helper()
	upgrade := action.NewUpgrade(bareConfig(t, config, namespace))
	upgrade.Namespace, upgrade.WaitStrategy = namespace, kube.HookOnlyStrategy
	_, err := upgrade.Run(name, chart, nil)
	return err
}

// bareUpgrade upgrades the release of a lane to the new version of the made chart with Helm alone.
func (l *lane) bareUpgrade(config *rest.Config) error {
	l.t.Helper()
	chart, err := loader.LoadDir(filepath.Join("testdata", "made-2"))
	must(l.t, err)
	return bareUpgrade(l.t, config, l.release.Namespace, l.release.Name, chart)
}

type bareGetter struct {
	config    *rest.Config
	namespace string
}

func (g bareGetter) ToRESTConfig() (*rest.Config, error) { return rest.CopyConfig(g.config), nil }

func (g bareGetter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	client, err := discovery.NewDiscoveryClientForConfig(g.config)
	return memory.NewMemCacheClient(client), err
}

func (g bareGetter) ToRESTMapper() (meta.RESTMapper, error) {
	client, err := g.ToDiscoveryClient()
	return restmapper.NewDeferredDiscoveryRESTMapper(client), err
}

func (g bareGetter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), &clientcmd.ConfigOverrides{Context: clientcmdapi.Context{Namespace: g.namespace}})
}
