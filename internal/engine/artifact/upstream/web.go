package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// requestTimeout is the timeout of a request, with its redirects and its body.
const requestTimeout = 30 * time.Second

// downloadTimeout is the timeout of the download of a file.
const downloadTimeout = 30 * time.Minute

const maxRedirects = 10

// Web reads documents from servers. The zero value is ready to use.
type Web struct {
	// Doing reports the document that is being read. It may be nil.
	Doing func(address string)
}

// client reads documents; downloader reads files, whose transfer may take longer.
var (
	client     = &http.Client{Timeout: requestTimeout, CheckRedirect: checkRedirect}
	downloader = &http.Client{CheckRedirect: checkRedirect}
)

// checkRedirect follows redirects, but never away from TLS: the responses end up in a signed
// payload.
func checkRedirect(next *http.Request, before []*http.Request) error {
	switch {
	case len(before) > maxRedirects:
		return errors.New("too many redirects")
	case next.URL.Scheme != "https" && before[0].URL.Scheme == "https":
		return errors.New("redirected away from https")
	}
	return nil
}

// StatusError is a response of a server without the document.
type StatusError struct {
	Address string
	Status  int
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: the server returned status %d", e.Address, e.Status)
}

// Get reads a document of at most limit bytes.
func (w Web) Get(ctx context.Context, address string, limit int64) ([]byte, error) {
	w.doing(address)
	response, err := Request(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return ReadAll(response, address, limit)
}

// Post sends a query in JSON and reads the answer, of at most limit bytes.
func (w Web) Post(ctx context.Context, address string, query []byte, limit int64) ([]byte, error) {
	w.doing(address)
	headers := http.Header{"Accept": {"application/json"}, "Content-Type": {"application/json"}}
	response, err := send(ctx, http.MethodPost, address, headers, bytes.NewReader(query))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return ReadAll(response, address, limit)
}

// Size returns the size of a file on a server, which is at most limit.
func (w Web) Size(ctx context.Context, address string, limit int64) (int64, error) {
	w.doing(address)
	response, err := Request(ctx, http.MethodHead, address, nil)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode != http.StatusOK:
		return 0, &StatusError{address, response.StatusCode}
	case response.ContentLength <= 0 || response.ContentLength > limit:
		return 0, fmt.Errorf("%s: the server does not report the size", address)
	}
	return response.ContentLength, nil
}

// Download writes a file of at most limit bytes, and returns its size. It fails if nothing arrives
// for a while, and after the longest time that a download may take.
func (w Web) Download(ctx context.Context, address string, limit int64, to io.Writer) (int64, error) {
	w.doing(address)
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stalled := time.AfterFunc(requestTimeout, func() { stop(fmt.Errorf("the server sent nothing for %s", requestTimeout)) })
	defer stalled.Stop()
	response, err := sendBy(ctx, downloader, http.MethodGet, address, nil, http.NoBody)
	if err != nil {
		return 0, because(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, &StatusError{address, response.StatusCode}
	}
	size, err := io.Copy(to, io.LimitReader(&progressing{response.Body, stalled}, limit+1))
	switch {
	case err != nil:
		return 0, fmt.Errorf("cannot download %s: %w", address, because(ctx, err))
	case size > limit:
		return 0, fmt.Errorf("%s is larger than %d bytes", address, limit)
	case response.ContentLength >= 0 && size != response.ContentLength:
		return 0, fmt.Errorf("cannot download %s: it ended after %d of %d bytes", address, size, response.ContentLength)
	}
	return size, nil
}

// because returns why a context has ended instead of an error that this caused.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// progressing restarts a timer whenever something was read.
type progressing struct {
	from    io.Reader
	stalled *time.Timer
}

func (p *progressing) Read(into []byte) (int, error) {
	n, err := p.from.Read(into)
	if n > 0 {
		p.stalled.Reset(requestTimeout)
	}
	return n, err
}

func (w Web) doing(address string) {
	if w.Doing != nil {
		w.Doing(address)
	}
}

// Request sends a request. The caller closes the body of the response.
func Request(ctx context.Context, method, address string, headers http.Header) (*http.Response, error) {
	return send(ctx, method, address, headers, http.NoBody)
}

func send(ctx context.Context, method, address string, headers http.Header, body io.Reader) (*http.Response, error) {
	return sendBy(ctx, client, method, address, headers, body)
}

func sendBy(ctx context.Context, by *http.Client, method, address string, headers http.Header, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, fmt.Errorf("invalid URL %q: %w", address, err)
	}
	maps.Copy(r.Header, headers)
	r.Header.Set("Accept-Encoding", "identity") // sizes must be those of the file
	response, err := by.Do(r)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if err != nil {
		return nil, fmt.Errorf("cannot reach %s: %w", address, err)
	}
	return response, nil
}

// ReadAll reads the body of a response, at most limit bytes.
func ReadAll(response *http.Response, address string, limit int64) ([]byte, error) {
	if response.StatusCode != http.StatusOK {
		return nil, &StatusError{address, response.StatusCode}
	}
	return readAll(response.Body, address, limit)
}

func readAll(from io.Reader, name string, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(from, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	case int64(len(content)) > limit:
		return nil, fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return content, nil
}

// PathOf returns the path of a file in a mirror of upstream.
func PathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Path, "/")
}
