package steps

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/discovery"
)

func getJSON(ctx context.Context, client discovery.DiscoveryInterface, path string, into any) error {
	text, err := client.RESTClient().Get().AbsPath(path).DoRaw(ctx)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// loopback queries health endpoints on this host. Their certificates are self-signed at each start.
var loopback = &http.Client{
	Timeout:   3 * time.Second,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}, //nolint:gosec // see above
}

// probeHealth queries a health endpoint on this host and returns its problem, or "" if it is
// healthy.
func probeHealth(ctx context.Context, url string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err.Error()
	}
	response, err := loopback.Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(response.Body, 200))
	if response.StatusCode != http.StatusOK {
		return fmt.Sprintf("%s returns status %d: %s", url, response.StatusCode, text)
	}
	return ""
}
