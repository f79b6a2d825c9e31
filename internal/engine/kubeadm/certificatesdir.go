package kubeadm

import (
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// CertificatesDir returns the directory of certificates that an API server's manifest uses, which
// is certificatesDir of its ClusterConfiguration. It needs no API. Without a readable manifest it
// returns kubeadm's default.
func CertificatesDir(apiServer []byte) string {
	if file := lastFlag(apiServer, "tls-cert-file"); file != "" {
		return filepath.Dir(file)
	}
	return defaultPKI
}

// ClusterCA returns the file of the cluster's CA on this host: the one that its kubelet trusts, or
// else its API server, or else kubeadm's default. A path that does not exist does not count.
func ClusterCA(kubeletConfig, apiServer []byte) string {
	for _, file := range []string{clientCA(kubeletConfig), lastFlag(apiServer, "client-ca-file")} {
		if _, err := os.Stat(file); err == nil && filepath.IsAbs(file) {
			return file
		}
	}
	return filepath.Join(defaultPKI, "ca.crt")
}

func clientCA(kubeletConfig []byte) string {
	var config struct {
		Authentication struct {
			X509 struct {
				ClientCAFile string `json:"clientCAFile"`
			} `json:"x509"`
		} `json:"authentication"`
	}
	if yaml.Unmarshal(kubeletConfig, &config) != nil {
		return "" // the kubelet reports it
	}
	return config.Authentication.X509.ClientCAFile
}

// lastFlag returns the value of a flag that counts, or "".
func lastFlag(manifest []byte, name string) string {
	m, err := Parse(manifest)
	if err != nil || len(m.Flags[name]) == 0 {
		return ""
	}
	return m.Flags[name][len(m.Flags[name])-1]
}
