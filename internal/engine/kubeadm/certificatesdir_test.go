package kubeadm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func apiServerWith(t *testing.T, pki string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/manifests/kube-apiserver.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return []byte(strings.ReplaceAll(string(text), "/etc/kubernetes/pki", pki))
}

func TestCertificatesDirOfAManifest(t *testing.T) {
	for name, c := range map[string]struct {
		manifest []byte
		want     string
	}{
		"kubeadm's default": {apiServerWith(t, "/etc/kubernetes/pki"), "/etc/kubernetes/pki"},
		"another one":       {apiServerWith(t, "/srv/pki"), "/srv/pki"},
		"no manifest":       {nil, "/etc/kubernetes/pki"},
		"not a manifest":    {[]byte("{"), "/etc/kubernetes/pki"},
	} {
		if got := CertificatesDir(c.manifest); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestClusterCAOnAHost(t *testing.T) {
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.crt")
	if err := os.WriteFile(ca, []byte("ca"), 0o600); err != nil {
		t.Fatal(err)
	}
	kubelet := func(file string) []byte { return []byte("authentication: {x509: {clientCAFile: " + file + "}}\n") }
	for name, c := range map[string]struct {
		kubelet, apiServer []byte
		want               string
	}{
		"a worker with another directory":              {kubelet(ca), nil, ca},
		"a control plane node with another directory":  {nil, apiServerWith(t, dir), ca},
		"the file of the kubelet does not exist":       {kubelet("/absent/ca.crt"), apiServerWith(t, dir), ca},
		"neither file exists":                          {kubelet("/absent/ca.crt"), apiServerWith(t, "/absent"), "/etc/kubernetes/pki/ca.crt"},
		"the configuration of the kubelet is not YAML": {[]byte("{"), nil, "/etc/kubernetes/pki/ca.crt"},
	} {
		if got := ClusterCA(c.kubelet, c.apiServer); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
