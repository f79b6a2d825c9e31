package server

import (
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/engine/install"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server/access"
)

// TestRequestsOfTheServerShareConnections: each evaluation of a form reads the keys of the hosts.
func TestRequestsOfTheServerShareConnections(t *testing.T) {
	var connections atomic.Int32
	objects := httptest.NewUnstartedServer(http.NotFoundHandler())
	objects.EnableHTTP2 = true
	objects.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	objects.StartTLS()
	defer objects.Close()
	config := &rest.Config{Host: objects.URL, BearerToken: "own"}
	config.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: objects.Certificate().Raw})
	servers, err := operations.NewAPIServers(config)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCallers(Options{Config: config, Cluster: &operations.Cluster{APIServers: servers}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		installed, err := install.New(c.config(access.Principal{Own: true}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := installed.PinnedKeys(t.Context()); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	if connections.Load() != 1 {
		t.Errorf("%d connections", connections.Load())
	}
}
