package create

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/refit-dev/refit/internal/engine/artifact"
)

// requestTimeout is the timeout of a request, and of a kubeadm that lists its images.
const requestTimeout = 30 * time.Second

// client follows redirects, but never away from TLS: the responses end up in a signed payload.
var client = &http.Client{
	Timeout: requestTimeout,
	CheckRedirect: func(next *http.Request, before []*http.Request) error {
		switch {
		case len(before) > 10:
			return errors.New("too many redirects")
		case next.URL.Scheme != "https" && before[0].URL.Scheme == "https":
			return errors.New("redirected away from https")
		}
		return nil
	},
}

// download downloads a small document.
func (m *builder) download(ctx context.Context, address string) ([]byte, error) {
	m.doing("downloading %s", address)
	response, err := request(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return readAll(response, address)
}

// sizeOf returns the size of a file on a server.
func (m *builder) sizeOf(ctx context.Context, address string) (int64, error) {
	response, err := request(ctx, http.MethodHead, address, nil)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode != http.StatusOK:
		return 0, fmt.Errorf("%s: the server returned status %d", address, response.StatusCode)
	case response.ContentLength <= 0 || response.ContentLength > artifact.MaxBlob:
		return 0, fmt.Errorf("%s: the server does not report the size", address)
	}
	return response.ContentLength, nil
}

func request(ctx context.Context, method, address string, headers http.Header) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("invalid URL %q: %w", address, err)
	}
	maps.Copy(r.Header, headers)
	r.Header.Set("Accept-Encoding", "identity") // sizes must be those of the file
	response, err := client.Do(r)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if err != nil {
		return nil, fmt.Errorf("cannot reach %s: %w", address, err)
	}
	return response, nil
}

func readAll(response *http.Response, address string) ([]byte, error) {
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: the server returned status %d", address, response.StatusCode)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	if len(content) > maxDocument {
		return nil, fmt.Errorf("%s is too large", address)
	}
	return content, nil
}
