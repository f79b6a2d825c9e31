package etcd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// manifestOf returns a static pod as kubeadm writes it, with its certificates in a directory.
func manifestOf(pki, urls string, more ...string) []byte {
	flags := append([]string{
		"--listen-client-urls=" + urls, "--trusted-ca-file=/etc/kubernetes/pki/etcd/ca.crt",
		"--cert-file=/etc/kubernetes/pki/etcd/server.crt", "--key-file=/etc/kubernetes/pki/etcd/server.key",
	}, more...)
	return []byte(`apiVersion: v1
kind: Pod
metadata: {name: etcd, namespace: kube-system}
spec:
  containers:
  - name: etcd
    command:
    - etcd
    - ` + strings.Join(flags, "\n    - ") + `
    volumeMounts:
    - {mountPath: /var/lib/etcd, name: etcd-data}
    - {mountPath: /etc/kubernetes/pki/etcd, name: etcd-certs}
  volumes:
  - {name: etcd-certs, hostPath: {path: "` + pki + `", type: DirectoryOrCreate}}
  - {name: etcd-data, hostPath: {path: /var/lib/etcd}}
`)
}

func TestConfigFromManifest(t *testing.T) {
	for situation, tt := range map[string]struct {
		urls  string
		more  []string
		local string
		http  string
	}{
		"as kubeadm writes it":      {"https://127.0.0.1:2379,https://10.0.0.1:2379", nil, "https://127.0.0.1:2379", ""},
		"loopback is not the first": {"https://10.0.0.1:2379,https://127.0.0.1:2379", nil, "https://127.0.0.1:2379", ""},
		"only another address":      {"https://10.0.0.1:2379", nil, "https://10.0.0.1:2379", ""},
		"all addresses":             {"https://0.0.0.0:2379", nil, "https://127.0.0.1:2379", ""},
		"all addresses, IPv6":       {"https://[::]:2379", nil, "https://[::1]:2379", ""},
		"IPv6":                      {"https://[::1]:2379,https://[fd00::1]:2379", nil, "https://[::1]:2379", ""},
		"another address for HTTP":  {"https://127.0.0.1:2379", []string{"--listen-client-http-urls=https://127.0.0.1:2378"}, "https://127.0.0.1:2379", "https://127.0.0.1:2378"},
	} {
		t.Run(situation, func(t *testing.T) {
			pki := t.TempDir()
			config, err := ConfigFromManifest(manifestOf(pki, tt.urls, tt.more...))
			must(t, err)
			if !slices.Equal(config.Endpoints, []string{tt.local}) || config.HTTP != tt.http || config.CA != pki+"/ca.crt" || config.Cert != pki+"/server.crt" {
				t.Errorf("got %+v", config)
			}
			for _, name := range []string{"healthcheck-client.crt", "healthcheck-client.key"} {
				must(t, os.WriteFile(filepath.Join(pki, name), nil, 0o600))
			}
			if config, err = ConfigFromManifest(manifestOf(pki, tt.urls, tt.more...)); err != nil || config.Cert != pki+"/healthcheck-client.crt" || config.Key != pki+"/healthcheck-client.key" {
				t.Errorf("with a client certificate: %+v (%v)", config, err)
			}
		})
	}
}

func TestConfigFromAnInvalidManifest(t *testing.T) {
	for situation, text := range map[string]string{
		"not YAML":       "{",
		"another pod":    "spec: {containers: [{name: web, command: [nginx]}]}",
		"no addresses":   "spec: {containers: [{name: etcd, command: [etcd]}]}",
		"not an address": string(manifestOf("/pki", "unix://x")),
		"no CA":          "spec: {containers: [{name: etcd, command: [etcd, --listen-client-urls=https://127.0.0.1:2379]}]}",
		"not even text":  "\x00",
	} {
		if config, err := ConfigFromManifest([]byte(text)); err == nil {
			t.Errorf("%s: got %+v", situation, config)
		}
	}
	config, err := ConfigFromManifest([]byte("spec: {containers: [{name: etcd, command: [etcd, --listen-client-urls=http://127.0.0.1:2379]}]}"))
	if err != nil || config.CA != "" {
		t.Errorf("without TLS: %+v (%v)", config, err)
	}
}

func TestDialRefusesAMissingEndpointOrCA(t *testing.T) {
	if _, err := Dial(Config{}); err == nil {
		t.Error("no error without an endpoint")
	}
	if _, err := Dial(Config{Endpoints: []string{"https://127.0.0.1:1"}, CA: "/nowhere/ca.crt"}); err == nil {
		t.Error("no error without a CA")
	}
}
