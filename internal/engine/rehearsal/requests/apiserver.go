package requests

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

// APIServer is the API server of a rehearsal.
type APIServer struct {
	URL   string
	Token string
	// ReadyTimeout bounds the wait for readiness; the lists run even if it ends in vain, because
	// they show what the API server cannot read.
	ReadyTimeout time.Duration
	// ListTimeout bounds the retries of one request.
	ListTimeout time.Duration

	client *http.Client
}

// Run waits until the API server is ready, and lists every stored resource.
func (a *APIServer) Run(ctx context.Context) rehearsal.Report {
	// The only other process in this network is the API server, and its certificate names the
	// addresses of the cluster.
	insecure := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // as above
	a.client = &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{TLSClientConfig: insecure}}
	var report rehearsal.Report
	report.Ready, report.Checks = a.ready(ctx)
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := a.retry(ctx, "/version", accepts, &version); err != nil {
		report.Error = err.Error()
		return report
	}
	report.Version = version.GitVersion
	resources, skipped, err := a.discover(ctx)
	if err != nil {
		report.Error = err.Error()
		return report
	}
	report.Skipped = skipped[:min(len(skipped), rehearsal.MaxSkipped)]
	a.listAll(ctx, resources, &report)
	return report
}

// ready polls the readiness checks until all pass, and returns those that failed last.
func (a *APIServer) ready(ctx context.Context) (ready bool, failing []string) {
	deadline := time.After(a.ReadyTimeout) // between attempts, so that there is at least one answer
	for {
		status, body, err := a.get(ctx, "/readyz?verbose", "*/*")
		if err == nil && status == http.StatusOK {
			return true, nil
		}
		if err == nil {
			failing = failedChecks(string(body))
		}
		select {
		case <-ctx.Done():
			return false, failing
		case <-deadline:
			return false, failing
		case <-time.After(pollInterval):
		}
	}
}

// failedChecks returns the names of the checks that fail: lines such as
// "[-]informer-sync failed: reason withheld".
func failedChecks(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "[-]"); ok {
			name, _, _ := strings.Cut(rest, " ")
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// maxBody bounds one response.
const maxBody = 512 << 20

func (a *APIServer) get(ctx context.Context, path, accept string) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL+path, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+a.Token)
	request.Header.Set("Accept", accept)
	request.Header.Set("User-Agent", "refit-rehearsal") // so that an audit log would show it
	response, err := a.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	return response.StatusCode, body, err
}

// retry gets a path until it succeeds. An internal error is repeated less often: it is usually the
// answer for an object that cannot be read.
func (a *APIServer) retry(ctx context.Context, path, accept string, into any) error {
	deadline := time.After(a.ListTimeout)
	for internal := 0; ; {
		status, body, err := a.get(ctx, path, accept)
		switch {
		case err == nil && status == http.StatusOK:
			return json.Unmarshal(body, into)
		case err == nil:
			err = failure(status, body)
		}
		if status == http.StatusInternalServerError {
			internal++
		}
		if internal > 2 || final(status) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-deadline:
			return err
		case <-time.After(pollInterval):
		}
	}
}

// final reports whether a repeated request has the same answer. The API server answers 404 until it
// serves a CRD, and 429 or 503 until a cache is filled.
func final(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusGone:
		return true
	}
	return false
}

// failure returns the message of a Status, or the begin of another body.
func failure(status int, body []byte) error {
	var answer struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Message == "" {
		answer.Message = string(body[:min(len(body), 300)])
	}
	return &statusError{status, strings.TrimSpace(answer.Message)}
}

type statusError struct {
	status  int
	message string
}

func (e *statusError) Error() string { return fmt.Sprintf("%s (%d)", e.message, e.status) }
