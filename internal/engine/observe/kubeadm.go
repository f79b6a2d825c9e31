package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/configpatch"
)

// The ConfigMaps of kubeadm.
const (
	kubeadmConfig = "kubeadm-config"
	kubeletConfig = "kubelet-config"
	proxyConfig   = "kube-proxy"
	dnsConfig     = "coredns"
)

// readKubeadm reads what kubeadm stores in the cluster. It fails without the ConfigMap
// kubeadm-config; a missing other one is a Gap.
func (obs *observation) readKubeadm(ctx context.Context) error {
	text, err := obs.configMap(ctx, kubeadmConfig, "ClusterConfiguration")
	if err != nil {
		return err
	}
	found, err := parseClusterConfiguration(text)
	if err != nil {
		return err
	}
	if obs.configured, err = configuredFields(text); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		read func(context.Context, *cluster.Kubeadm) error
	}{
		{kubeletConfig, obs.readKubeletConfig},
		{proxyConfig, obs.readProxyConfig},
		{dnsConfig, obs.readDNS},
		{configpatch.ConfigMap, obs.readPatched},
	} {
		if err := part.read(ctx, found); err != nil {
			obs.addGap(cluster.PartKubeadm, "ConfigMap "+kubeSystem+"/"+part.name, err)
		}
	}
	obs.snapshot.Kubeadm = found
	return nil
}

// configMap returns an entry of a ConfigMap in kube-system.
func (obs *observation) configMap(ctx context.Context, name, key string) (string, error) {
	found, err := obs.client.CoreV1().ConfigMaps(kubeSystem).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", requestFailed(getIn("configmap", kubeSystem, name), err)
	}
	text, ok := found.Data[key]
	if !ok {
		return "", fmt.Errorf("ConfigMap %s/%s has no entry %s", kubeSystem, name, key)
	}
	return text, nil
}

// clusterConfiguration are the used fields of the ClusterConfiguration of kubeadm from v1beta3 on.
type clusterConfiguration struct {
	APIVersion           string          `json:"apiVersion"`
	KubernetesVersion    string          `json:"kubernetesVersion"`
	ClusterName          string          `json:"clusterName"`
	ControlPlaneEndpoint string          `json:"controlPlaneEndpoint"`
	ImageRepository      string          `json:"imageRepository"`
	FeatureGates         map[string]bool `json:"featureGates"`
	APIServer            componentArgs   `json:"apiServer"`
	ControllerManager    componentArgs   `json:"controllerManager"`
	Scheduler            componentArgs   `json:"scheduler"`
	Etcd                 struct {
		Local *struct {
			componentArgs

			ImageTag string `json:"imageTag"`
		} `json:"local"`
		External json.RawMessage `json:"external"`
	} `json:"etcd"`
	DNS struct {
		ImageTag string `json:"imageTag"`
	} `json:"dns"`
}

type componentArgs struct {
	ExtraArgs extraArgs `json:"extraArgs"`
}

// extraArgs are a map up to v1beta3, and from v1beta4 on a list, in which a name may occur twice.
type extraArgs map[string]string

func (a *extraArgs) UnmarshalJSON(raw []byte) error {
	*a = extraArgs{}
	var byName map[string]string
	if json.Unmarshal(raw, &byName) == nil {
		for name, value := range byName {
			keep(*a, name, value)
		}
		return nil
	}
	var list []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return errors.New("extraArgs are neither a map nor a list of names and values")
	}
	for _, arg := range list {
		keep(*a, arg.Name, arg.Value)
	}
	return nil
}

func parseClusterConfiguration(text string) (*cluster.Kubeadm, error) {
	var c clusterConfiguration
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		return nil, fmt.Errorf("cannot parse the ClusterConfiguration of kubeadm: %w", err)
	}
	out := &cluster.Kubeadm{
		APIVersion: c.APIVersion, KubernetesVersion: c.KubernetesVersion, ClusterName: c.ClusterName, Endpoint: c.ControlPlaneEndpoint,
		ImageRepository: c.ImageRepository, FeatureGates: c.FeatureGates, ExternalEtcd: len(c.Etcd.External) > 0 && string(c.Etcd.External) != "null",
		DNSImageTag: c.DNS.ImageTag, ExtraArgs: map[string]map[string]string{},
	}
	args := map[string]extraArgs{
		apiServerComponent: c.APIServer.ExtraArgs, "kube-controller-manager": c.ControllerManager.ExtraArgs, "kube-scheduler": c.Scheduler.ExtraArgs,
	}
	if c.Etcd.Local != nil {
		args[etcdComponent], out.EtcdImageTag = c.Etcd.Local.ExtraArgs, c.Etcd.Local.ImageTag
	}
	for component, given := range args {
		if len(given) > 0 {
			out.ExtraArgs[component] = given
		}
	}
	return out, nil
}

func (obs *observation) readKubeletConfig(ctx context.Context, into *cluster.Kubeadm) error {
	text, err := obs.configMap(ctx, kubeletConfig, "kubelet")
	if err != nil {
		return err
	}
	into.Kubelet, err = parseKubeletConfiguration(text)
	return err
}

// readProxyConfig reads the configuration of kube-proxy. If it is missing, kubeadm does not manage
// kube-proxy.
func (obs *observation) readProxyConfig(ctx context.Context, into *cluster.Kubeadm) error {
	text, err := obs.configMap(ctx, proxyConfig, "config.conf")
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	into.HasProxy = true
	var config struct {
		Mode         string          `json:"mode"`
		FeatureGates map[string]bool `json:"featureGates"`
	}
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		return fmt.Errorf("cannot parse the configuration of kube-proxy: %w", err)
	}
	into.ProxyMode, into.ProxyGates = config.Mode, config.FeatureGates
	if into.ProxyMode == "" {
		into.ProxyMode = "iptables" // the default on Linux
	}
	return nil
}

// readDNS reads the plugins and the version of CoreDNS. If its ConfigMap is missing, kubeadm does
// not manage DNS.
func (obs *observation) readDNS(ctx context.Context, into *cluster.Kubeadm) error {
	text, err := obs.configMap(ctx, dnsConfig, "Corefile")
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	into.HasDNS, into.CorefilePlugins = true, pluginsIn(text)
	deployment, err := obs.client.AppsV1().Deployments(kubeSystem).Get(ctx, dnsConfig, metav1.GetOptions{})
	if err != nil {
		return requestFailed(getIn("deployments.apps", kubeSystem, dnsConfig), err)
	}
	for _, c := range deployment.Spec.Template.Spec.Containers {
		if c.Name == dnsConfig {
			into.DNSVersion = versionOf(c.Image)
		}
	}
	return nil
}
