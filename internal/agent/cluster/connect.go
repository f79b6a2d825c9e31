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

// Kubeconfig is the kubelet's own.
const Kubeconfig = "/etc/kubernetes/kubelet.conf"

const (
	nodeUser     = "system:node:"
	fieldManager = "refit-agent"
	// askTimeout bounds each request that is no watch: one that hangs on the way is told by nothing else in time.
	askTimeout = 10 * time.Second
)

// Client asks the API as this node. Its methods may be called from several goroutines.
type Client struct {
	kubeconfig string
	userAgent  string
	nodeName   string
	patience   time.Duration // with each request

	mu   sync.Mutex
	last *connection // nil: make a new one
}

// connection is one way to the API, made of what the files said at the time.
type connection struct {
	files  fingerprint
	server string
	http   *http.Client
	refit  rest.Interface
	core   rest.Interface
}

// Connect reads the kubeconfig, and learns from its certificate which node this is. It asks nothing of the API yet, so it also works while that is away.
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

// New is Connect for who knows already which node this is. It reads no file, so work that was begun can be resumed while the kubeconfig is torn or
// absent: each use reads it anew, and refuses one that is another node's.
func New(kubeconfig, version, nodeName string) *Client {
	return &Client{kubeconfig: kubeconfig, userAgent: "refit-agent/" + version, nodeName: nodeName, patience: askTimeout}
}

// NodeName is the node that the client speaks for.
func (c *Client) NodeName() string { return c.nodeName }

// Server is the address of the API that the kubeconfig names now.
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
		return nil, fmt.Errorf("reading the kubelet's kubeconfig: %w", err)
	}
	config.UserAgent = c.userAgent
	config.ContentType = runtime.ContentTypeJSON
	return config, nil
}

// nodeName is what the client certificate says: the API server sees nothing else.
func nodeName(config *rest.Config) (string, error) {
	text := config.CertData
	if len(text) == 0 {
		if config.CertFile == "" {
			return "", errors.New("the kubelet's kubeconfig has no client certificate")
		}
		var err error
		if text, err = os.ReadFile(config.CertFile); err != nil {
			return "", fmt.Errorf("reading the kubelet's client certificate: %w", err)
		}
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return "", fmt.Errorf("reading the kubelet's client certificate: %w", err)
		}
		name, is := strings.CutPrefix(certificate.Subject.CommonName, nodeUser)
		if !is || name == "" {
			return "", fmt.Errorf("the kubelet's client certificate is that of %q, which is no node", certificate.Subject.CommonName)
		}
		return name, nil
	}
	return "", errors.New("the kubelet's client certificate is empty")
}

// scheme knows what the agent reads, and nothing else: it runs on every host.
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
