package cluster

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"golang.org/x/sync/errgroup"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// superAdminConfig is the kubeconfig with which kube-vip starts during kubeadm init: the
// administrator's own has no permissions yet.
const superAdminConfig = "/etc/kubernetes/super-admin.conf"

// keepalivedConfig has unicast peers, as clouds require. With a check, the address leaves a node
// within two seconds and stays where it moved. Without one, the first node keeps it.
var keepalivedConfig = template.Must(template.New("keepalived").Parse(`global_defs {
    router_id {{.Node.Name}}
    enable_script_security
    script_user root
}
{{- if .Checked}}
vrrp_script api_server {
    script "/usr/bin/curl --silent --fail --insecure --max-time 2 https://{{.Node.Address}}:{{.Port}}/readyz"
    interval 1
    timeout 2
    fall 2
    rise 1
}
{{- end}}
vrrp_instance api {
    state BACKUP
    interface host0
    virtual_router_id 51
    priority {{.Priority}}
    advert_int 1
{{- if .Checked}}
    nopreempt
{{- end}}
    unicast_src_ip {{.Node.Address}}
    unicast_peer {
{{- range .Peers}}
        {{.}}
{{- end}}
    }
    virtual_ipaddress {
        {{.Address}}/24 dev host0
    }
{{- if .Checked}}
    track_script {
        api_server
    }
{{- end}}
}
`))

// kubeVIPPod is the pod that `kube-vip manifest pod --arp --controlplane --leaderElection` prints,
// with another source of its kubeconfig.
var kubeVIPPod = template.Must(template.New("kube-vip").Parse(`apiVersion: v1
kind: Pod
metadata:
  name: kube-vip
  namespace: kube-system
spec:
  hostNetwork: true
  hostAliases:
  - {ip: 127.0.0.1, hostnames: [kubernetes]}
  containers:
  - name: kube-vip
    image: {{.Image}}
    imagePullPolicy: IfNotPresent
    args: [manager]
    env:
    - {name: vip_arp, value: "true"}
    - {name: port, value: "{{.Port}}"}
    - {name: vip_interface, value: host0}
    - {name: vip_subnet, value: "32"}
    - {name: vip_nodename, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    - {name: cp_enable, value: "true"}
    - {name: cp_namespace, value: kube-system}
    - {name: vip_leaderelection, value: "true"}
    - {name: vip_leasename, value: plndr-cp-lock}
    - {name: vip_leaseduration, value: "5"}
    - {name: vip_renewdeadline, value: "3"}
    - {name: vip_retryperiod, value: "1"}
    - {name: address, value: "{{.Address}}"}
    securityContext:
      capabilities: {add: [NET_ADMIN, NET_RAW], drop: [ALL]}
    volumeMounts:
    - {name: kubeconfig, mountPath: /etc/kubernetes/admin.conf}
  volumes:
  - name: kubeconfig
    hostPath: {path: {{.Kubeconfig}}}
`))

const kubeVIPManifest = "/etc/kubernetes/manifests/kube-vip.yaml"

// installVIP installs what moves the virtual IP on the control plane nodes. With kube-vip, the
// first one runs it during kubeadm init, the others once they have joined.
func (c *Cluster) installVIP(ctx context.Context) error {
	controlPlane := c.OfRole(RoleControlPlane)
	switch c.s.VIP {
	case VIPKeepalived:
		packages, err := c.t.builder.Keepalived(ctx)
		if err != nil {
			return err
		}
		group, ctx := errgroup.WithContext(ctx)
		for _, n := range controlPlane {
			group.Go(func() error { return n.installKeepalived(ctx, packages) })
		}
		return group.Wait()
	case VIPKubeVIP:
		archive, err := c.t.builder.KubeVIP(ctx)
		if err != nil {
			return err
		}
		for _, n := range controlPlane {
			if err := n.LoadImage(ctx, archive); err != nil {
				return err
			}
		}
		return controlPlane[0].runKubeVIP(ctx, superAdminConfig)
	}
	return nil
}

// installKeepalived writes the configuration before it installs the packages, which start the
// service.
func (n *Node) installKeepalived(ctx context.Context, packages []string) error {
	var peers []netip.Addr
	for _, other := range n.c.OfRole(RoleControlPlane) {
		if other.Name() != n.Name() {
			peers = append(peers, other.Address())
		}
	}
	var text bytes.Buffer
	err := keepalivedConfig.Execute(&text, map[string]any{
		"Node": n, "Peers": peers, "Address": n.c.s.virtualIP(), "Port": apiPort, "Priority": 100 - n.m.Number, "Checked": !n.c.s.VIPUnchecked,
	})
	if err != nil {
		return err
	}
	if _, err := n.Exec(ctx, "mkdir", "-p", "/etc/keepalived", "/tmp/keepalived"); err != nil {
		return err
	}
	if err := n.write(ctx, "/etc/keepalived/keepalived.conf", 0o644, &text); err != nil {
		return err
	}
	for _, file := range packages {
		if err := n.CopyTo(ctx, file, "/tmp/keepalived/"+filepath.Base(file)); err != nil {
			return err
		}
	}
	if _, err := n.Exec(ctx, "sh", "-c", "dpkg --install --force-confold /tmp/keepalived/*.deb && systemctl enable --now keepalived"); err != nil {
		return fmt.Errorf("installing keepalived on %s: %w", n.Name(), err)
	}
	return nil
}

// runKubeVIP writes the static pod of kube-vip, in clusters with it.
func (n *Node) runKubeVIP(ctx context.Context, kubeconfig string) error {
	if n.c.s.VIP != VIPKubeVIP {
		return nil
	}
	var text bytes.Buffer
	err := kubeVIPPod.Execute(&text, map[string]any{
		"Image": versions.KubeVIPImage, "Port": apiPort, "Address": n.c.s.virtualIP(), "Kubeconfig": kubeconfig,
	})
	if err != nil {
		return err
	}
	if _, err := n.Exec(ctx, "mkdir", "-p", filepath.Dir(kubeVIPManifest)); err != nil {
		return err
	}
	return n.write(ctx, kubeVIPManifest, 0o600, &text)
}

// HoldsVIP reports whether the virtual IP is on an interface of the node.
func (n *Node) HoldsVIP(ctx context.Context) (bool, error) {
	out, err := n.Exec(ctx, "ip", "-brief", "address", "show", "dev", "host0")
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(strings.Fields(string(out)), func(word string) bool {
		address, err := netip.ParsePrefix(word)
		return err == nil && address.Addr() == n.c.s.virtualIP()
	}), nil
}
