package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// maxResponse limits short responses; those of /version and /readyz have a few kilobytes.
const maxResponse = 1 << 20

// newDirect returns the client for the addresses of the API servers. It sends the user's token or
// certificate to addresses that nodes report, which may belong to another machine in the network of
// a laptop. So the server must first prove that it has a certificate of the cluster's CA for that
// address. Without a CA in the configuration there is no such client (nil), and the servers are
// queried through the endpoint. Only addresses of control plane nodes are used: a worker may have a
// certificate of that CA, too.
func newDirect(config *rest.Config) (*http.Client, error) {
	if config.Insecure || len(config.CAData) == 0 && config.CAFile == "" {
		return nil, nil
	}
	direct := rest.CopyConfig(config)
	direct.ServerName = "" // the certificate must be valid for the address
	client, err := rest.HTTPClientFor(direct)
	if err != nil {
		return nil, err
	}
	return withoutRedirects(client), nil
}

// withoutRedirects returns a client that does not follow redirects, which would receive the
// credentials.
func withoutRedirects(client *http.Client) *http.Client {
	out := *client
	out.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &out
}

// route is a route to one API server.
type route struct {
	via     string // as in cluster.APIServer
	client  *http.Client
	base    string     // URL before the path
	request apiRequest // the permission that it needs
	clock   *serverClock
}

// open requests a path. The caller checks the status and closes the response.
func (w route) open(ctx context.Context, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := w.client.Do(request)
	if err != nil {
		return nil, requestFailed(w.request, err)
	}
	w.clock.note(response)
	return response, nil
}

// get requests a short document with a timeout.
func (w route) get(ctx context.Context, path string, timeout time.Duration) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	response, err := w.open(ctx, path)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxResponse))
	return response.StatusCode, body, requestFailed(w.request, err)
}

// statusError returns the error of an unsuccessful response as API clients return it.
func (w route) statusError(status int, body []byte) error {
	info := metav1.Status{}
	if json.Unmarshal(body, &info) == nil && info.Kind == "Status" {
		return requestFailed(w.request, &apierrors.StatusError{ErrStatus: info})
	}
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return requestFailed(w.request, &apierrors.StatusError{ErrStatus: metav1.Status{
			Code: int32(status), Reason: metav1.StatusReasonForbidden, Message: firstLine(body), Status: metav1.StatusFailure,
		}})
	}
	return requestFailed(w.request, fmt.Errorf("status %d: %s", status, firstLine(body)))
}

func firstLine(body []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	const maxLength = 200
	if len(line) > maxLength {
		line = line[:maxLength] + "…"
	}
	return line
}

// errNoRoute is the error of an API server without a known address or pod.
var errNoRoute = errors.New("neither the address of the API server nor its pod is known")
