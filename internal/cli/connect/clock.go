package connect

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// Clock returns a clock that shows the time of the API server, whatever the clock of this machine
// shows.
func Clock(ctx context.Context, config *rest.Config, now func() time.Time) (func() time.Time, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot use the kubeconfig: %w", err)
	}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot use the kubeconfig: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.JoinPath("version").String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("cannot get the API server's time: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("cannot get the API server's time: %w", err)
	}
	here := now()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16))
	response.Body.Close()
	there, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return nil, fmt.Errorf("cannot parse the API server's time: %w", err)
	}
	offset := there.Sub(here)
	return func() time.Time { return now().Add(offset) }, nil
}
