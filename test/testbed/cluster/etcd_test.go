package cluster

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/netip"
	"strings"
	"testing"
)

func specOf(t *testing.T, change func(*Spec)) *Cluster {
	t.Helper()
	spec := Spec{Name: "demo", ControlPlanes: 3, Workers: 2, Kubernetes: "v1.35.4"}
	change(&spec)
	spec.Default()
	if err := spec.Validate(); err != nil {
		t.Fatal(err)
	}
	return &Cluster{s: &state{Spec: spec, Nodes: members(spec), EtcdHosts: etcdHosts(spec)}}
}

func TestHostsOfAnExternalEtcd(t *testing.T) {
	for situation, tt := range map[string]struct {
		change             func(*Spec)
		hosts, first, file string
		all                int
	}{
		"stacked":                    {func(*Spec) {}, "", "", "", 5},
		"on the control plane hosts": {func(s *Spec) { s.Etcd = EtcdExternal }, "demo-cp-1 demo-cp-2 demo-cp-3", "https://10.210.0.11:2379", "/etc/kubernetes/pki/apiserver-etcd-client.crt", 5},
		"on hosts of its own":        {func(s *Spec) { s.Etcd = EtcdExternalHosts }, "demo-etcd-1 demo-etcd-2 demo-etcd-3", "https://10.210.0.16:2379", "/etc/kubernetes/pki/apiserver-etcd-client.crt", 8},
		"as kubespray":               {func(s *Spec) { s.Layout = LayoutKubespray }, "demo-cp-1 demo-cp-2 demo-cp-3", "https://10.210.0.11:2379", "/etc/ssl/etcd/ssl/node-demo-cp-1.pem", 5},
	} {
		c := specOf(t, tt.change)
		var names []string
		for _, n := range c.EtcdHosts() {
			names = append(names, n.Name())
		}
		if got := strings.Join(names, " "); got != tt.hosts || len(c.Hosts()) != tt.all || len(c.Nodes()) != 5 {
			t.Errorf("%s: %s, %d hosts, %d nodes", situation, got, len(c.Hosts()), len(c.Nodes()))
		}
		e := c.ExternalEtcd()
		if (e == nil) != (tt.hosts == "") || e != nil && (e.Endpoints[0] != tt.first || e.Cert != tt.file || len(e.Endpoints) != 3) {
			t.Errorf("%s: %+v", situation, e)
		}
		var text bytes.Buffer
		err := kubeadmConfig.Execute(&text, map[string]any{
			"Node": c.Nodes()[0], "Cluster": c, "Secrets": secrets{}, "First": true, "Port": apiPort, "PodSubnet": "", "ServiceSubnet": "",
			"IgnoredPreflight": "", "Untainted": false,
		})
		if err != nil || strings.Contains(text.String(), "\netcd:\n  external:\n    endpoints:\n    - "+tt.first+"\n") != (e != nil) {
			t.Errorf("%s: %v: %s", situation, err, text.String())
		}
	}
}

func TestCertificatesOfAnExternalEtcd(t *testing.T) {
	ca, err := newEtcdCA()
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca.certificate) {
		t.Fatal("the CA has no certificate")
	}
	for name, addresses := range map[string][]netip.Addr{"client": nil, "demo-etcd-1": {netip.MustParseAddr("10.210.0.16")}} {
		signed, err := ca.sign(name, addresses...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tls.X509KeyPair(signed.certificate, signed.key); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		block, _ := pem.Decode(signed.certificate)
		parsed, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parsed.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, err = parsed.Verify(x509.VerifyOptions{Roots: roots, DNSName: "10.210.0.16", KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
		if (err == nil) != (addresses != nil) {
			t.Errorf("%s as a server: %v", name, err)
		}
	}
}
