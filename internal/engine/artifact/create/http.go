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

// askWithin is how long one answer may take.
const askWithin = 30 * time.Second

// client asks what is published. It follows where it is led, but never away from TLS: what is read here is going to be signed.
var client = &http.Client{
	Timeout: askWithin,
	CheckRedirect: func(next *http.Request, before []*http.Request) error {
		switch {
		case len(before) > 10:
			return errors.New("it leads from one place to the next without end")
		case next.URL.Scheme != "https" && before[0].URL.Scheme == "https":
			return errors.New("it leads away from https")
		}
		return nil
	},
}

// download reads a small document.
func (m *making) download(ctx context.Context, address string) ([]byte, error) {
	m.doing("asking for %s", address)
	response, err := ask(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return readAll(response, address)
}

// sizeOf asks how many bytes a file has.
func (m *making) sizeOf(ctx context.Context, address string) (int64, error) {
	response, err := ask(ctx, http.MethodHead, address, nil)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode != http.StatusOK:
		return 0, fmt.Errorf("%s: the server answers %d", address, response.StatusCode)
	case response.ContentLength <= 0 || response.ContentLength > artifact.MaxBlob:
		return 0, fmt.Errorf("%s: the server does not tell its size", address)
	}
	return response.ContentLength, nil
}

func ask(ctx context.Context, method, address string, headers http.Header) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("%q is no address: %w", address, err)
	}
	maps.Copy(request.Header, headers)
	request.Header.Set("Accept-Encoding", "identity") // sizes are those of the file
	response, err := client.Do(request)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be reached: %w", address, err)
	}
	return response, nil
}

func readAll(response *http.Response, address string) ([]byte, error) {
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: the server answers %d", address, response.StatusCode)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, mostDocument+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	if len(content) > mostDocument {
		return nil, fmt.Errorf("%s is bigger than such a document can be", address)
	}
	return content, nil
}
