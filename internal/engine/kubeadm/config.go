package kubeadm

import (
	"maps"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

const (
	defaultPKI = "/etc/kubernetes/pki"
	editConfig = "`kubectl -n kube-system edit configmap kubeadm-config`"
)

// ClusterConfig is the ClusterConfiguration of kubeadm in the cluster. It keeps unknown fields.
type ClusterConfig struct {
	APIVersion           string
	KubernetesVersion    string
	ClusterName          string
	ImageRepository      string
	CertificatesDir      string
	ControlPlaneEndpoint string
	ExternalEtcd         bool
	EtcdImageTag         string // pinned by the owner, or empty
	EtcdDataDir          string
	RootlessControlPlane bool
	DNSDisabled          bool
	ProxyDisabled        bool

	document map[string]any
}

// ReadClusterConfig reads the data of the ConfigMap kube-system/kubeadm-config.
func ReadClusterConfig(data map[string]string) (*ClusterConfig, error) {
	text, there := data[configKey]
	if !there {
		return nil, node.ManualIntervention("KubeadmConfigMissing", nil,
			"Upload it: `kubeadm init phase upload-config kubeadm --config FILE`"+thenRetry, "the ConfigMap kubeadm-config has no ClusterConfiguration")
	}
	var c ClusterConfig
	if err := yaml.Unmarshal([]byte(text), &c.document); err != nil {
		return nil, node.ManualIntervention("KubeadmConfigBroken", err, "Fix it: "+editConfig+thenRetry,
			"cannot parse the ClusterConfiguration in the ConfigMap kubeadm-config")
	}
	c.APIVersion = c.text("apiVersion")
	if c.text("kind") != "ClusterConfiguration" || !strings.HasPrefix(c.APIVersion, "kubeadm.k8s.io/") {
		return nil, node.ManualIntervention("KubeadmConfigBroken", nil, "Fix it: "+editConfig+thenRetry,
			"the ConfigMap kubeadm-config does not contain a ClusterConfiguration")
	}
	c.KubernetesVersion = c.text("kubernetesVersion")
	c.ClusterName = c.text("clusterName")
	c.ImageRepository = c.text("imageRepository")
	c.CertificatesDir = c.text("certificatesDir")
	if c.CertificatesDir == "" {
		c.CertificatesDir = defaultPKI
	}
	c.ControlPlaneEndpoint = c.text("controlPlaneEndpoint")
	_, c.ExternalEtcd = c.at("etcd", "external").(map[string]any)
	c.EtcdImageTag = c.text("etcd", "local", "imageTag")
	c.EtcdDataDir = c.text("etcd", "local", "dataDir")
	c.RootlessControlPlane = c.flag("featureGates", "RootlessControlPlane")
	c.DNSDisabled = c.flag("dns", "disabled")
	c.ProxyDisabled = c.flag("proxy", "disabled")
	return &c, nil
}

// at returns the value at a path, or nil.
func (c *ClusterConfig) at(path ...string) any {
	var value any = c.document
	for _, name := range path {
		below, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = below[name]
	}
	return value
}

func (c *ClusterConfig) text(path ...string) string {
	text, _ := c.at(path...).(string)
	return text
}

func (c *ClusterConfig) flag(path ...string) bool {
	on, _ := c.at(path...).(bool)
	return on
}

// documentFor returns the document from which kubeadm of a version renders. It omits feature gates
// that this version does not know: `kubeadm init` refuses them, unlike `kubeadm upgrade`, which
// renders from the same document.
func (c *ClusterConfig) documentFor(version string) map[string]any {
	document := maps.Clone(c.document)
	document["kubernetesVersion"] = version
	facts, known := kubefacts.For(version)
	gates, there := document["featureGates"].(map[string]any)
	if !known || !there {
		return document
	}
	gates = maps.Clone(gates)
	maps.DeleteFunc(gates, func(name string, _ any) bool {
		_, accepted := facts.Kubeadm.Gate(name)
		return !accepted
	})
	document["featureGates"] = gates
	if len(gates) == 0 {
		delete(document, "featureGates")
	}
	return document
}
