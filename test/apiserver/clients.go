package apiserver

import (
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	adminUser    = "admin"
	harnessUser  = "apiserver-harness"
	mastersGroup = "system:masters"
)

// RESTConfig returns the configuration of an administrator: user admin, group system:masters. Like
// all configurations of the harness, it has no client-side rate limit.
func (s *Server) RESTConfig() *rest.Config { return rest.CopyConfig(s.admin) }

// As returns the configuration of a client whose certificate has this user and these groups: for a
// node, system:node:NAME in system:nodes. A user without a group that RBAC binds has few
// permissions.
func (s *Server) As(tb testing.TB, user string, groups ...string) *rest.Config {
	tb.Helper()
	config, err := s.configFor(user, groups)
	if err != nil {
		tb.Fatal(err)
	}
	return config
}

func (s *Server) configFor(user string, groups []string) (*rest.Config, error) {
	pair, err := s.authority.client(user, groups)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host: "https://" + s.port.address(),
		QPS:  -1,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: s.authority.pem, CertData: pair.certificate, KeyData: pair.key,
		},
	}, nil
}

// Kubeconfig writes a kubeconfig for another process, and returns its path. Only the owner can read
// the file; it is removed with the test.
func (s *Server) Kubeconfig(tb testing.TB, config *rest.Config) string {
	tb.Helper()
	const name = "test"
	content := clientcmdapi.NewConfig()
	content.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	content.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	content.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	content.CurrentContext = name
	path := filepath.Join(tb.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*content, path); err != nil {
		tb.Fatalf("writing a kubeconfig: %v", err)
	}
	return path
}
