package cluster

import (
	"bytes"
	"context"
	"text/template"
)

// LayoutKubespray puts files where kubespray does: the certificates of Kubernetes and of etcd, and
// the flags and the configuration of the kubelet, which its unit reads instead of kubeadm's.
const LayoutKubespray = "kubespray"

const kubesprayPKI = "/etc/kubernetes/ssl"

const kubesprayUnit = `[Unit]
Description=kubelet with the flags of kubespray
Wants=containerd.service
After=containerd.service

[Service]
EnvironmentFile=-/etc/kubernetes/kubelet.env
ExecStart=/usr/local/bin/kubelet $KUBE_LOG_LEVEL $KUBELET_ADDRESS $KUBELET_HOSTNAME $KUBELET_ARGS
Restart=always
RestartSec=10s

[Install]
WantedBy=multi-user.target
`

var kubesprayEnvironment = template.Must(template.New("kubelet.env").Parse(`KUBE_LOG_LEVEL="--v=2"
KUBELET_ADDRESS="--node-ip={{.Node.Address}}"
KUBELET_HOSTNAME="--hostname-override={{.Node.Name}}"
KUBELET_ARGS="--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf ` +
	`--config=/etc/kubernetes/kubelet-config.yaml ` +
	`--kubeconfig=/etc/kubernetes/kubelet.conf{{if .Node.Zone}} ` +
	`--node-labels=topology.kubernetes.io/zone={{.Node.Zone}}{{end}}"
PATH=/usr/local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
`))

var kubesprayKubelet = template.Must(template.New("kubelet-config.yaml").Parse(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: /etc/kubernetes/manifests
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: {{.PKI}}/ca.crt}
authorization: {mode: Webhook}
cgroupDriver: {{.CgroupDriver}}
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
failCgroupV1: false
failSwapOn: false
rotateCertificates: true
{{- if not .Disk}}
imageGCHighThresholdPercent: 100
evictionHard:
  memory.available: 100Mi
{{- end}}
`))

// installLayout writes the files that kubespray writes before it runs kubeadm.
func (c *Cluster) installLayout(ctx context.Context) error {
	if c.s.Layout != LayoutKubespray {
		return nil
	}
	driver, err := cgroupDriver()
	if err != nil {
		return err
	}
	for _, n := range c.Nodes() {
		files, err := n.kubesprayFiles(driver)
		if err != nil {
			return err
		}
		if err := n.writeAll(ctx, files); err != nil {
			return err
		}
		if _, err := n.Exec(ctx, "sh", "-c", "rm -rf /etc/systemd/system/kubelet.service.d && systemctl daemon-reload"); err != nil {
			return err
		}
	}
	return nil
}

// kubesprayFiles returns these files of a node by path.
func (n *Node) kubesprayFiles(driver string) (map[string][]byte, error) {
	var environment, config bytes.Buffer
	if err := kubesprayEnvironment.Execute(&environment, map[string]any{"Node": n}); err != nil {
		return nil, err
	}
	err := kubesprayKubelet.Execute(&config, map[string]any{
		"PKI": n.c.s.certificatesDir(), "Disk": n.hasDisk(), "CgroupDriver": driver,
	})
	return map[string][]byte{
		"/etc/systemd/system/kubelet.service": []byte(kubesprayUnit),
		"/etc/kubernetes/kubelet.env":         environment.Bytes(),
		"/etc/kubernetes/kubelet-config.yaml": config.Bytes(),
	}, err
}
