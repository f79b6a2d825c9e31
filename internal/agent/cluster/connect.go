package cluster

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Kubeconfig is the kubeconfig of the kubelet.
const Kubeconfig = "/etc/kubernetes/kubelet.conf"

const (
	nodeUser     = "system:node:"
	fieldManager = "refit-agent"
	// requestTimeout is the timeout of each request except watches.
	requestTimeout = 10 * time.Second
)

// Client is an API client with the identity of this node. It is safe for concurrent use.
type Client struct {
	kubeconfig string
	userAgent  string
	nodeName   string
	timeout    time.Duration // of each request

	mu   sync.Mutex
	last *connection // nil: reconnect
}

// connection is a connection to the API, with the files that it was created from.
type connection struct {
	files  fingerprint
	server string
	http   *http.Client
	refit  rest.Interface
	core   rest.Interface
}

// Connect reads the kubeconfig and takes the name of the node from its certificate. It sends no
// request, so it also works while the API is unavailable.
func Connect(kubeconfig, version string) (*Client, error) {
	c := New(kubeconfig, version, "")
	config, err := c.load()
	if err != nil {
		return nil, err
	}
	if c.nodeName, err = nodeName(config); err != nil {
		return nil, err
	}
	return c, nil
}

// New is Connect for a known node. It reads no files, so an upgrade can be resumed while the
// kubeconfig is damaged or missing: each request rereads it, and fails if it is for another node.
func New(kubeconfig, version, nodeName string) *Client {
	return &Client{kubeconfig: kubeconfig, userAgent: "refit-agent/" + version, nodeName: nodeName, timeout: requestTimeout}
}

// NodeName returns the name of the node.
func (c *Client) NodeName() string { return c.nodeName }

// Server returns the current API address in the kubeconfig.
func (c *Client) Server() (string, error) {
	current, err := c.current()
	if err != nil {
		return "", err
	}
	return current.server, nil
}

func (c *Client) load() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("cannot read the kubelet's kubeconfig: %w", err)
	}
	config.UserAgent = c.userAgent
	config.ContentType = runtime.ContentTypeJSON
	return config, nil
}

// nodeName returns the node name in the client certificate, which is all that the API server sees.
func nodeName(config *rest.Config) (string, error) {
	text := config.CertData
	if len(text) == 0 {
		if config.CertFile == "" {
			return "", errors.New("the kubelet's kubeconfig has no client certificate")
		}
		var err error
		if text, err = os.ReadFile(config.CertFile); err != nil {
			return "", fmt.Errorf("cannot read the kubelet's client certificate: %w", err)
		}
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return "", fmt.Errorf("cannot read the kubelet's client certificate: %w", err)
		}
		name, is := strings.CutPrefix(certificate.Subject.CommonName, nodeUser)
		if !is || name == "" {
			return "", fmt.Errorf("the kubelet's client certificate is for %q, which is not a node", certificate.Subject.CommonName)
		}
		return name, nil
	}
	return "", errors.New("the kubelet's client certificate is empty")
}

// scheme contains only the types that the agent reads, because it runs on every host.
func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	_ = refitv1alpha1.AddToScheme(s) // neither of them can fail
	s.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.Node{}, &corev1.ConfigMap{})
	return s
}

func restClients(config *rest.Config, client *http.Client) (refit, core rest.Interface, err error) {
	codecs := serializer.NewCodecFactory(scheme()).WithoutConversion()
	ofRefit := rest.CopyConfig(config)
	ofRefit.APIPath, ofRefit.GroupVersion, ofRefit.NegotiatedSerializer = "/apis", &refitv1alpha1.GroupVersion, codecs
	if refit, err = rest.RESTClientForConfigAndClient(ofRefit, client); err != nil {
		return nil, nil, err
	}
	ofCore := rest.CopyConfig(config)
	ofCore.APIPath, ofCore.GroupVersion, ofCore.NegotiatedSerializer = "/api", &corev1.SchemeGroupVersion, codecs
	if core, err = rest.RESTClientForConfigAndClient(ofCore, client); err != nil {
		return nil, nil, err
	}
	return refit, core, nil
}
