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

// largestAnswer bounds what is read of short answers; those of /version and /readyz have a few kilobytes.
const largestAnswer = 1 << 20

// newDirect makes the client for the addresses of the API servers themselves. It sends the person's token or certificate to addresses that nodes
// claim to have, which from a laptop in another network may be anybody's. So it speaks only to who proves, before anything is sent, to hold a
// certificate of the cluster's own CA for that address. Without such a CA in the configuration there is no such client (nil), and the servers are
// asked through the endpoint instead. The addresses asked are only those of control plane nodes: a worker, too, may hold a certificate of that CA.
func newDirect(config *rest.Config) (*http.Client, error) {
	if config.Insecure || len(config.CAData) == 0 && config.CAFile == "" {
		return nil, nil
	}
	direct := rest.CopyConfig(config)
	direct.ServerName = "" // that of the endpoint; here the address itself must be in the certificate
	client, err := rest.HTTPClientFor(direct)
	if err != nil {
		return nil, err
	}
	return withoutRedirects(client), nil
}

// withoutRedirects makes a client that stays where it was sent: the credentials would follow a redirect anywhere.
func withoutRedirects(client *http.Client) *http.Client {
	stays := *client
	stays.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &stays
}

// way is a way to one API server.
type way struct {
	via    string // as in cluster.APIServer
	client *http.Client
	base   string   // URL before the path
	ask    question // what right it needs
}

// open asks for a path. The caller closes the answer and looks at its status.
func (w way) open(ctx context.Context, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := w.client.Do(request)
	if err != nil {
		return nil, asked(w.ask, err)
	}
	return response, nil
}

// get asks for something short within a time.
func (w way) get(ctx context.Context, path string, within time.Duration) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	response, err := w.open(ctx, path)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, largestAnswer))
	return response.StatusCode, body, asked(w.ask, err)
}

// refused turns an answer that is none into an error of the kind that the API's clients give.
func (w way) refused(status int, body []byte) error {
	said := metav1.Status{}
	if json.Unmarshal(body, &said) == nil && said.Kind == "Status" {
		return asked(w.ask, &apierrors.StatusError{ErrStatus: said})
	}
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return asked(w.ask, &apierrors.StatusError{ErrStatus: metav1.Status{
			Code: int32(status), Reason: metav1.StatusReasonForbidden, Message: firstLine(body), Status: metav1.StatusFailure,
		}})
	}
	return asked(w.ask, fmt.Errorf("it answered %d: %s", status, firstLine(body)))
}

func firstLine(body []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	const most = 200
	if len(line) > most {
		line = line[:most] + "…"
	}
	return line
}

// errNoWay is that there is no way to ask an API server by itself.
var errNoWay = errors.New("there is no address of its own to ask, and its pod is not known")
