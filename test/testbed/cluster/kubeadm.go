package cluster

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"text/template"
	"time"

	"github.com/refit-dev/refit/test/testbed/machine"
)

// secrets let nodes join. They are generated for one `up` and not stored.
type secrets struct {
	Token, CertificateKey, CAHash string
}

func newSecrets() secrets {
	id, token, key := make([]byte, 3), make([]byte, 8), make([]byte, 32)
	for _, b := range [][]byte{id, token, key} {
		_, _ = rand.Read(b) // never fails
	}
	return secrets{Token: hex.EncodeToString(id) + "." + hex.EncodeToString(token), CertificateKey: hex.EncodeToString(key)}
}

// configFile is the path of the kubeadm configuration on a node.
const configFile = "/etc/testbed-kubeadm.yaml"

// IgnoredPreflight are the preflight errors of a node that is a container.
const IgnoredPreflight = "SystemVerification"

// kubeadmConfig is the configuration for init and join, with the same node registration.
var kubeadmConfig = template.Must(template.New("kubeadm").Parse(`
{{- define "registration"}}nodeRegistration:
  name: {{.Node.Name}}
  criSocket: unix:///run/containerd/containerd.sock
  imagePullPolicy: Never
  ignorePreflightErrors: [{{.IgnoredPreflight}}]
  kubeletExtraArgs:
  - {name: node-ip, value: "{{.Node.Address}}"}
{{- if .Node.Zone}}
  - {name: node-labels, value: "topology.kubernetes.io/zone={{.Node.Zone}}"}
{{- end}}
{{- if .Untainted}}
  taints: []
{{- end}}
{{end -}}
{{- define "timeouts"}}
{{- with .Timeouts}}timeouts:
{{- range $name, $limit := .}}
  {{$name}}: {{$limit}}
{{- end}}
{{- end}}
{{- end -}}
apiVersion: kubeadm.k8s.io/v1beta4
{{- if .First}}
kind: InitConfiguration
bootstrapTokens:
- token: {{.Secrets.Token}}
  ttl: 1h0m0s
certificateKey: {{.Secrets.CertificateKey}}
localAPIEndpoint:
  advertiseAddress: {{.Node.Address}}
  bindPort: {{.Port}}
{{template "registration" .}}
{{- template "timeouts" .}}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
clusterName: {{.Cluster.Name}}
kubernetesVersion: {{.Cluster.Spec.Kubernetes}}
controlPlaneEndpoint: {{.Cluster.Endpoint}}
{{- if .Cluster.Spec.CertificatesDir}}
certificatesDir: {{.Cluster.Spec.CertificatesDir}}
{{- end}}
{{- with .Cluster.ExternalEtcd}}
etcd:
  external:
    endpoints:
{{- range .Endpoints}}
    - {{.}}
{{- end}}
    caFile: {{.CA}}
    certFile: {{.Cert}}
    keyFile: {{.Key}}
{{- end}}
networking:
  podSubnet: {{.PodSubnet}}
  serviceSubnet: {{.ServiceSubnet}}
controllerManager:
  extraArgs:
  # Each node's range is in its CNI configuration.
  - {name: allocate-node-cidrs, value: "false"}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: {{.CgroupDriver}}
failCgroupV1: false
failSwapOn: false
{{- if not .Cluster.Spec.Disk}}
# Nodes without a disk of their own see the machine's, which others fill too.
imageGCHighThresholdPercent: 100
evictionHard:
  memory.available: 100Mi
{{- end}}
---
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
conntrack:
  # The table's size belongs to the machine's kernel and cannot be set from a node.
  maxPerCore: 0
{{- else}}
kind: JoinConfiguration
{{- if .Cluster.Spec.CertificatesDir}}
caCertPath: {{.Cluster.Spec.CertificatesDir}}/ca.crt
{{- end}}
discovery:
  bootstrapToken:
    apiServerEndpoint: {{.Cluster.Endpoint}}
    token: {{.Secrets.Token}}
    caCertHashes: ["sha256:{{.Secrets.CAHash}}"]
{{- if eq .Node.Role "control-plane"}}
controlPlane:
  certificateKey: {{.Secrets.CertificateKey}}
  localAPIEndpoint:
    advertiseAddress: {{.Node.Address}}
    bindPort: {{.Port}}
{{- end}}
{{template "registration" .}}
{{- template "timeouts" .}}
{{- end}}
`))

// cgroupDriver returns the driver of the kubelet, the same as containerd's (see setCgroupDriver).
func cgroupDriver() (string, error) {
	v2, err := machine.UsesCgroupV2()
	if v2 {
		return "systemd", err
	}
	return "cgroupfs", err
}

// kubeadmTimeouts returns kubeadm's timeouts for a slow machine. On others, its defaults apply.
func kubeadmTimeouts() map[string]string {
	if factor, err := machine.TimeoutFactor(); err != nil || factor == 1 {
		return nil
	}
	timeouts := map[string]string{}
	for name, usual := range map[string]time.Duration{
		"controlPlaneComponentHealthCheck": 4 * time.Minute,
		"discovery":                        5 * time.Minute,
		"etcdAPICall":                      2 * time.Minute,
		"kubeletHealthCheck":               4 * time.Minute,
		"kubernetesAPICall":                time.Minute,
		"tlsBootstrap":                     5 * time.Minute,
	} {
		timeouts[name] = machine.Timeout(usual).String()
	}
	return timeouts
}

func (n *Node) writeKubeadmConfig(ctx context.Context, s secrets, first bool) error {
	driver, err := cgroupDriver()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	err = kubeadmConfig.Execute(&text, map[string]any{
		"Node": n, "Cluster": n.c, "Secrets": s, "First": first, "Port": apiPort,
		"PodSubnet": n.c.s.podSubnet(), "ServiceSubnet": serviceSubnet,
		"IgnoredPreflight": IgnoredPreflight, "CgroupDriver": driver,
		"Timeouts": kubeadmTimeouts(),
		// Without workers, the control plane nodes run workloads.
		"Untainted": n.Role() == RoleControlPlane && n.c.s.Workers == 0,
	})
	if err != nil {
		return err
	}
	return n.write(ctx, configFile, 0o600, &text)
}

// initialize runs kubeadm init on the first control plane node and returns the secrets for the
// others to join.
func (n *Node) initialize(ctx context.Context) (secrets, error) {
	s := newSecrets()
	if err := n.writeKubeadmConfig(ctx, s, true); err != nil {
		return s, err
	}
	if err := n.Kubeadm(ctx, "init", "--config", configFile, "--upload-certs"); err != nil {
		return s, err
	}
	ca, err := n.Exec(ctx, "cat", n.c.s.certificatesDir()+"/ca.crt")
	if err != nil {
		return s, err
	}
	s.CAHash, err = publicKeyHash(ca)
	return s, err
}

func (n *Node) join(ctx context.Context, s secrets) error {
	if err := n.writeKubeadmConfig(ctx, s, false); err != nil {
		return err
	}
	return n.Kubeadm(ctx, "join", "--config", configFile)
}

// Kubeadm runs kubeadm in the node; an error contains the end of its output on both streams.
func (n *Node) Kubeadm(ctx context.Context, args ...string) error {
	var out bytes.Buffer
	err := n.ExecStreams(ctx, Streams{Out: &out, Err: &out}, append([]string{"kubeadm"}, args...)...)
	if err != nil {
		return fmt.Errorf("%s: kubeadm %s: %w%s", n.Name(), args[0], err, lastLines(out.String(), 25))
	}
	return nil
}

// publicKeyHash returns the hash by which kubeadm pins a certificate authority.
func publicKeyHash(certificate []byte) (string, error) {
	block, _ := pem.Decode(certificate)
	if block == nil {
		return "", errors.New("the CA certificate of the cluster is not PEM")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("reading the cluster's CA certificate: %w", err)
	}
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	return hex.EncodeToString(sum[:]), nil
}
