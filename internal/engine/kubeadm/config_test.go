package kubeadm

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const clusterConfiguration = `apiServer:
  extraArgs:
  - {name: profiling, value: "false"}
  fieldOfTheFuture: {kept: true}
apiVersion: kubeadm.k8s.io/v1beta4
certificatesDir: /etc/kubernetes/pki
clusterName: demo
controlPlaneEndpoint: 10.0.0.1:6443
dns: {}
etcd:
  local: {dataDir: /var/lib/etcd}
imageRepository: registry.k8s.io
kind: ClusterConfiguration
kubernetesVersion: v1.35.4
networking: {dnsDomain: cluster.local, podSubnet: 10.130.0.0/16, serviceSubnet: 10.96.0.0/16}
proxy: {disabled: true}
`

func config(t *testing.T, text string) *ClusterConfig {
	t.Helper()
	read, err := ReadClusterConfig(map[string]string{"ClusterConfiguration": text})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestClusterConfigurationIsParsed(t *testing.T) {
	c := config(t, clusterConfiguration)
	if c.KubernetesVersion != "v1.35.4" || c.ExternalEtcd || !c.ProxyDisabled || c.DNSDisabled || c.RootlessControlPlane || c.EtcdDataDir != "/var/lib/etcd" {
		t.Errorf("got %+v", c)
	}
	c = config(t, strings.ReplaceAll(clusterConfiguration, "local: {dataDir: /var/lib/etcd}", "external: {endpoints: [https://a:2379]}")+
		"featureGates: {RootlessControlPlane: true}\n")
	if !c.ExternalEtcd || !c.RootlessControlPlane {
		t.Errorf("got %+v", c)
	}
}

func TestInvalidClusterConfigurationIsRefused(t *testing.T) {
	_, err := ReadClusterConfig(nil)
	expect(t, err, refitv1alpha1.FailureManualIntervention, "KubeadmConfigMissing")
	for _, text := range []string{"{", "kind: ClusterConfiguration", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: Other"} {
		_, err := ReadClusterConfig(map[string]string{"ClusterConfiguration": text})
		expect(t, err, refitv1alpha1.FailureManualIntervention, "KubeadmConfigBroken")
	}
}

func TestUnknownFieldsAreKept(t *testing.T) {
	c := config(t, clusterConfiguration)
	text, err := yaml.Marshal(c.documentFor("v1.36.3"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "fieldOfTheFuture") || !strings.Contains(string(text), "kubernetesVersion: v1.36.3") {
		t.Errorf("got %s", text)
	}
	if c.document["kubernetesVersion"] != "v1.35.4" {
		t.Error("the configuration itself was changed")
	}
}

func TestFeatureGatesThatTheTargetRemovedAreOmitted(t *testing.T) {
	c := config(t, clusterConfiguration+"featureGates: {NodeLocalCRISocket: true, ControlPlaneKubeletLocalMode: true}\n")
	if gates := c.documentFor("v1.34.4")["featureGates"].(map[string]any); len(gates) != 2 {
		t.Errorf("v1.34 has both, got %v", gates)
	}
	if gates, there := c.documentFor("v1.37.1")["featureGates"]; there {
		t.Errorf("v1.37 has neither, got %v", gates)
	}
}
