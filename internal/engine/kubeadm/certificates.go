package kubeadm

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// certificate is a certificate of kubeadm, by the name that kubeadm prints.
type certificate struct {
	name string
	// Below the directory of certificates without .crt, or, with .conf, below /etc/kubernetes.
	file  string
	ca    string // the file of its CA
	owner string // the component whose upgrade renews it, empty for those that are renewed last
}

// certificates are the certificates that kubeadm renews. They are the same in kubeadm v1.34 to
// v1.37.
var certificates = []certificate{
	{"etcd-server", "etcd/server", "etcd/ca", Etcd},
	{"etcd-peer", "etcd/peer", "etcd/ca", Etcd},
	{"etcd-healthcheck-client", "etcd/healthcheck-client", "etcd/ca", Etcd},
	{"apiserver", "apiserver", "ca", APIServer},
	{"apiserver-kubelet-client", "apiserver-kubelet-client", "ca", APIServer},
	{"front-proxy-client", "front-proxy-client", "front-proxy-ca", APIServer},
	{"apiserver-etcd-client", "apiserver-etcd-client", "etcd/ca", APIServer},
	{"controller-manager.conf", "controller-manager.conf", "ca", ControllerManager},
	{"scheduler.conf", "scheduler.conf", "ca", Scheduler},
	{"admin.conf", "admin.conf", "ca", ""},
	{"super-admin.conf", "super-admin.conf", "ca", ""},
}

// authorities are the CAs, which kubeadm does not renew.
var authorities = []certificate{
	{"ca", "ca", "ca", ""},
	{"etcd-ca", "etcd/ca", "etcd/ca", ""},
	{"front-proxy-ca", "front-proxy-ca", "front-proxy-ca", ""},
}

// UpgradeCertificates lists the certificates that an upgrade renews. With external etcd, kubeadm
// does not manage those of etcd.
func UpgradeCertificates(externalEtcd bool) []string { return certificatesOf(externalEtcd, "", all) }

// ComponentCertificates lists the certificates that are renewed just before a component is swapped,
// and for "" those that are renewed last.
func ComponentCertificates(component string, externalEtcd bool) []string {
	return certificatesOf(externalEtcd, component, func(owner, component string) bool { return owner == component })
}

func all(string, string) bool { return true }

func certificatesOf(externalEtcd bool, component string, belongs func(owner, component string) bool) []string {
	var names []string
	for _, c := range certificates {
		if belongs(c.owner, component) && (!externalEtcd || c.ca != "etcd/ca") {
			names = append(names, c.name)
		}
	}
	return names
}

// Kubeconfigs returns the paths of the kubeconfigs in a directory that kubeadm renews.
func Kubeconfigs(dir string) []string {
	var paths []string
	for _, c := range certificates {
		if strings.HasSuffix(c.file, ".conf") {
			paths = append(paths, filepath.Join(dir, c.file))
		}
	}
	return paths
}

// path returns the path of a certificate.
func (c certificate) path(pki, kubernetesDir string) string {
	if strings.HasSuffix(c.file, ".conf") {
		return filepath.Join(kubernetesDir, c.file)
	}
	return filepath.Join(pki, c.file+".crt")
}

// check checks that a certificate is readable and matches its key: kubeadm writes them one after
// the other.
func (c certificate) check(path string) error {
	if strings.HasSuffix(path, ".conf") {
		_, err := readKubeconfig(path)
		return err
	}
	_, err := tls.LoadX509KeyPair(path, strings.TrimSuffix(path, ".crt")+".key")
	return err
}

// readKubeconfig returns the client certificate of the current context.
func readKubeconfig(path string) (*x509.Certificate, error) {
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return nil, err
	}
	return clientCertificate(config, path)
}

// EmbeddedCertificate returns the client certificate that is embedded in a kubeconfig, or nil if
// there is no readable one.
func EmbeddedCertificate(kubeconfig []byte) *x509.Certificate {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil
	}
	for _, user := range config.AuthInfos {
		user.ClientCertificate = ""
	}
	found, err := clientCertificate(config, "the kubeconfig")
	if err != nil {
		return nil
	}
	return found
}

func clientCertificate(config *clientcmdapi.Config, path string) (*x509.Certificate, error) {
	context, there := config.Contexts[config.CurrentContext]
	if !there {
		return nil, fmt.Errorf("%s has no current context", path)
	}
	user, there := config.AuthInfos[context.AuthInfo]
	if !there {
		return nil, fmt.Errorf("%s has no user %q", path, context.AuthInfo)
	}
	if user.ClientCertificate != "" {
		return readPEM(user.ClientCertificate)
	}
	if len(user.ClientCertificateData) == 0 {
		return nil, fmt.Errorf("%s: %w", path, errNoCertificate)
	}
	pair, err := tls.X509KeyPair(user.ClientCertificateData, user.ClientKeyData)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return x509.ParseCertificate(pair.Certificate[0])
}

// errNoCertificate is the error of a kubeconfig with a token or a plugin, which Refit does not
// renew.
var errNoCertificate = errors.New("no client certificate")

// readPEM returns the first certificate of a file.
func readPEM(path string) (*x509.Certificate, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
	}
	return nil, fmt.Errorf("%s contains no certificate", path)
}

// ReadCertificates returns the certificates of a host: those of kubeadm, and that of the kubelet.
// The error lists the unreadable ones; the others are returned with it.
func ReadCertificates(pki, kubernetesDir string) ([]refitv1alpha1.CertificateFacts, error) {
	var facts []refitv1alpha1.CertificateFacts
	var failed []error
	add := func(name string, externalCA bool, found *x509.Certificate, err error) {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNoCertificate):
		case err != nil:
			failed = append(failed, fmt.Errorf("cannot read certificate %s: %w", name, err))
		default:
			facts = append(facts, refitv1alpha1.CertificateFacts{
				Name: name, NotAfter: metav1.NewTime(found.NotAfter.UTC().Truncate(time.Second)), ExternalCA: externalCA,
			})
		}
	}
	for _, c := range authorities {
		found, err := readPEM(c.path(pki, kubernetesDir))
		add(c.name, external(filepath.Join(pki, c.ca)), found, err)
	}
	for _, c := range certificates {
		path := c.path(pki, kubernetesDir)
		found, err := readPEM(path)
		if strings.HasSuffix(path, ".conf") {
			found, err = readKubeconfig(path)
		}
		add(c.name, external(filepath.Join(pki, c.ca)), found, err)
	}
	found, err := readKubeconfig(filepath.Join(kubernetesDir, "kubelet.conf"))
	add("kubelet-client-current", false, found, err)
	return facts, errors.Join(failed...)
}
