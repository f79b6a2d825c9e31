package cluster

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"
	"text/template"

	"golang.org/x/sync/errgroup"
)

// The kinds of an external etcd, which systemd runs.
const (
	EtcdExternal      = "external"       // on the control plane hosts
	EtcdExternalHosts = "external-hosts" // on three hosts that are no nodes
)

// externalHosts is the number of hosts of an etcd that has its own.
const externalHosts = 3

// RoleEtcd is the role of a host that runs only etcd. It is no node of the cluster.
const RoleEtcd = "etcd"

// etcdUnit reads its configuration from the environment.
const etcdUnit = `[Unit]
Description=external etcd
Wants=network-online.target
After=network-online.target

[Service]
Type=notify
EnvironmentFile=/etc/etcd.env
ExecStart=/usr/local/bin/etcd
Restart=always
RestartSec=5s

[Install]
WantedBy=multi-user.target
`

var etcdEnvironment = template.Must(template.New("etcd.env").Parse(`ETCD_DATA_DIR=/var/lib/etcd
ETCD_NAME={{.Node.Name}}
ETCD_ADVERTISE_CLIENT_URLS=https://{{.Node.Address}}:2379
ETCD_INITIAL_ADVERTISE_PEER_URLS=https://{{.Node.Address}}:2380
ETCD_INITIAL_CLUSTER={{.Members}}
ETCD_INITIAL_CLUSTER_STATE=new
ETCD_INITIAL_CLUSTER_TOKEN=testbed
ETCD_LISTEN_CLIENT_URLS=https://{{.Node.Address}}:2379,https://127.0.0.1:2379
ETCD_LISTEN_PEER_URLS=https://{{.Node.Address}}:2380
ETCD_TRUSTED_CA_FILE={{.Files.CA}}
ETCD_CERT_FILE={{.Files.Member}}
ETCD_KEY_FILE={{.Files.MemberKey}}
ETCD_CLIENT_CERT_AUTH=true
ETCD_PEER_TRUSTED_CA_FILE={{.Files.CA}}
ETCD_PEER_CERT_FILE={{.Files.Member}}
ETCD_PEER_KEY_FILE={{.Files.MemberKey}}
ETCD_PEER_CLIENT_CERT_AUTH=true
`))

// etcdFiles are the certificates of an external etcd on a host. Every API server uses the same
// client certificate, since kubeadm has one configuration for all.
type etcdFiles struct {
	CA, Member, MemberKey, Client, ClientKey string
	ClientCA                                 string // where the API server reads the CA
}

func (c *Cluster) etcdFiles(host string) etcdFiles {
	if c.s.Layout == LayoutKubespray {
		const dir = "/etc/ssl/etcd/ssl"
		first := c.OfRole(RoleControlPlane)[0].Name()
		return etcdFiles{
			CA: dir + "/ca.pem", Member: dir + "/member-" + host + ".pem", MemberKey: dir + "/member-" + host + "-key.pem",
			Client: dir + "/node-" + first + ".pem", ClientKey: dir + "/node-" + first + "-key.pem", ClientCA: dir + "/ca.pem",
		}
	}
	pki := c.s.certificatesDir()
	return etcdFiles{
		CA: "/etc/etcd/pki/ca.crt", Member: "/etc/etcd/pki/member.crt", MemberKey: "/etc/etcd/pki/member.key",
		Client: pki + "/apiserver-etcd-client.crt", ClientKey: pki + "/apiserver-etcd-client.key", ClientCA: pki + "/etcd/ca.crt",
	}
}

// ExternalEtcd is kubeadm's configuration of an external etcd, or nil.
func (c *Cluster) ExternalEtcd() *ExternalEtcd {
	hosts := c.EtcdHosts()
	if len(hosts) == 0 {
		return nil
	}
	files := c.etcdFiles(hosts[0].Name())
	e := &ExternalEtcd{CA: files.ClientCA, Cert: files.Client, Key: files.ClientKey}
	for _, n := range hosts {
		e.Endpoints = append(e.Endpoints, fmt.Sprintf("https://%s:2379", n.Address()))
	}
	return e
}

// ExternalEtcd is how API servers connect to an external etcd.
type ExternalEtcd struct {
	Endpoints     []string
	CA, Cert, Key string
}

// EtcdHosts returns the hosts of an external etcd.
func (c *Cluster) EtcdHosts() []*Node {
	switch c.s.Etcd {
	case EtcdExternal:
		return c.OfRole(RoleControlPlane)
	case EtcdExternalHosts:
		var hosts []*Node
		for _, m := range c.s.EtcdHosts {
			hosts = append(hosts, &Node{c: c, m: m})
		}
		return hosts
	}
	return nil
}

// Hosts returns the nodes, and the hosts that are no nodes.
func (c *Cluster) Hosts() []*Node {
	if c.s.Etcd == EtcdExternalHosts {
		return append(c.Nodes(), c.EtcdHosts()...)
	}
	return c.Nodes()
}

// installEtcd starts an external etcd, if the cluster has one.
func (c *Cluster) installEtcd(ctx context.Context, bin string) error {
	hosts := c.EtcdHosts()
	if len(hosts) == 0 {
		return nil
	}
	ca, err := newEtcdCA()
	if err != nil {
		return err
	}
	var members []string
	for _, n := range hosts {
		members = append(members, fmt.Sprintf("%s=https://%s:2380", n.Name(), n.Address()))
	}
	client, err := ca.sign("kube-apiserver-etcd-client")
	if err != nil {
		return err
	}
	for _, n := range c.OfRole(RoleControlPlane) {
		files := c.etcdFiles(n.Name())
		err := n.writeAll(ctx, map[string][]byte{files.ClientCA: ca.certificate, files.Client: client.certificate, files.ClientKey: client.key})
		if err != nil {
			return err
		}
	}
	for _, n := range hosts {
		if err := n.writeEtcd(ctx, ca, bin, strings.Join(members, ",")); err != nil {
			return err
		}
	}
	// A member is ready once a majority is.
	group, ctx := errgroup.WithContext(ctx)
	for _, n := range hosts {
		group.Go(func() error {
			if n.Role() == RoleEtcd {
				if _, err := n.Exec(ctx, "systemctl", "disable", "--now", "kubelet"); err != nil {
					return err
				}
			}
			if _, err := n.Exec(ctx, "systemctl", "enable", "--now", "etcd"); err != nil {
				return fmt.Errorf("starting etcd on %s: %w", n.Name(), err)
			}
			return nil
		})
	}
	return group.Wait()
}

func (n *Node) writeEtcd(ctx context.Context, ca *etcdCA, bin, members string) error {
	files := n.c.etcdFiles(n.Name())
	member, err := ca.sign(n.Name(), n.Address())
	if err != nil {
		return err
	}
	var environment bytes.Buffer
	if err := etcdEnvironment.Execute(&environment, map[string]any{"Node": n, "Files": files, "Members": members}); err != nil {
		return err
	}
	err = n.writeAll(ctx, map[string][]byte{
		files.CA: ca.certificate, files.Member: member.certificate, files.MemberKey: member.key,
		"/etc/etcd.env": environment.Bytes(), "/etc/systemd/system/etcd.service": []byte(etcdUnit),
	})
	if err != nil {
		return err
	}
	for _, binary := range []string{"etcd", "etcdctl", "etcdutl"} {
		if err := n.CopyTo(ctx, path.Join(bin, binary), "/usr/local/bin/"+binary); err != nil {
			return err
		}
	}
	_, err = n.Exec(ctx, "systemctl", "daemon-reload")
	return err
}

// writeAll writes files that only root reads, and their directories.
func (n *Node) writeAll(ctx context.Context, files map[string][]byte) error {
	for file, text := range files {
		if _, err := n.Exec(ctx, "mkdir", "-p", path.Dir(file)); err != nil {
			return err
		}
		if err := n.write(ctx, file, 0o600, bytes.NewReader(text)); err != nil {
			return err
		}
	}
	return nil
}
