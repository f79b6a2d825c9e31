package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// The limits of a transfer: a server is stalled if it sends less than minPerStall within
// stallTimeout.
const (
	stallTimeout = 30 * time.Second
	minPerStall  = 4 << 10
	maxRedirects = 5
)

// web sends requests to web servers. It uses the proxy of the environment, which cannot change a
// file unnoticed.
type web struct {
	client *http.Client
	stall  time.Duration
}

func newWeb() *web { return newWebWithin(stallTimeout) }

func newWebWithin(stall time.Duration) *web {
	return &web{stall: stall, client: &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: min(stall, 10*time.Second)}).DialContext,
			TLSHandshakeTimeout:   min(stall, 10*time.Second),
			ResponseHeaderTimeout: stall,
			IdleConnTimeout:       stall,
			MaxIdleConnsPerHost:   2,
			ForceAttemptHTTP2:     true,
			DisableCompression:    true, // sizes and offsets must be those of the file
		},
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			switch {
			case len(before) > maxRedirects:
				return errors.New("too many redirects")
			case next.URL.Scheme != "https" && (next.URL.Scheme != "http" || before[0].URL.Scheme == "https"):
				return errors.New("redirected away from https")
			}
			return nil
		},
	}}
}

// mirror is a folder on a web server.
type mirror struct {
	base *url.URL
	web  *web
}

func (m *mirror) String() string { return m.base.Redacted() }

func (m *mirror) places(b refitv1alpha1.Blob) []place {
	var out []place
	if b.Path != "" {
		out = append(out, m.at(b.Path))
	}
	return append(out, m.at(blobPath(b.Digest)))
}

// at returns a path below the mirror. The path is escaped as a whole, so that it may contain a
// percent sign.
func (m *mirror) at(path string) place {
	u := *m.base
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/")+"/"+path, ""
	return &webFile{url: &u, web: m.web}
}

// webFile is a file on a web server.
type webFile struct {
	url *url.URL
	web *web
}

// String omits the query, which may contain a credential.
func (w *webFile) String() string {
	u := *w.url
	u.RawQuery = ""
	return u.Redacted()
}

func (w *webFile) open(caller context.Context, b refitv1alpha1.Blob, offset int64) (io.ReadCloser, int64, error) {
	ctx, cancel := context.WithCancelCause(caller)
	response, err := w.get(ctx, offset)
	if err != nil {
		cancel(nil)
		return nil, 0, err
	}
	start, err := checkResponse(response, b, offset)
	if err != nil {
		_ = response.Body.Close() // its content is not used
		cancel(nil)
		if errors.Is(err, errFromStart) {
			return w.open(caller, b, 0)
		}
		return nil, 0, err
	}
	return monitor(ctx, cancel, response.Body, w.web.stall), start, nil
}

func (w *webFile) get(ctx context.Context, offset int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url.String(), http.NoBody)
	if err != nil {
		return nil, errors.New("the URL is invalid")
	}
	request.Header.Set("Accept-Encoding", "identity")
	if offset > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	response, err := w.web.client.Do(request)
	if err != nil {
		return nil, withoutURL(err)
	}
	return response, nil
}

// errFromStart is returned if the server cannot resume the transfer.
var errFromStart = errors.New("the transfer must start again")

// checkResponse checks that a response is the wanted file, and returns its offset. A server may
// ignore the requested range or have a different file by now: the two must not be joined.
func checkResponse(r *http.Response, b refitv1alpha1.Blob, offset int64) (start int64, err error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return 0, fmt.Errorf("%w: the content is encoded", errOtherFile)
	}
	switch {
	case r.StatusCode == http.StatusOK && r.ContentLength >= 0 && r.ContentLength != b.Size:
		return 0, fmt.Errorf("%w: %d bytes instead of %d", errOtherFile, r.ContentLength, b.Size)
	case r.StatusCode == http.StatusOK:
		return 0, nil
	case r.StatusCode == http.StatusPartialContent && offset > 0:
		from, total, ok := contentRange(r.Header.Get("Content-Range"))
		if !ok || from != offset {
			return 0, errFromStart
		}
		if total >= 0 && total != b.Size {
			return 0, fmt.Errorf("%w: %d bytes instead of %d", errOtherFile, total, b.Size)
		}
		return offset, nil
	case r.StatusCode == http.StatusRequestedRangeNotSatisfiable && offset > 0:
		return 0, errFromStart
	case r.StatusCode == http.StatusNotFound, r.StatusCode == http.StatusGone:
		return 0, errNotFound
	case r.StatusCode >= 500, r.StatusCode == http.StatusTooManyRequests, r.StatusCode == http.StatusRequestTimeout:
		return 0, fmt.Errorf("the server returned status %d", r.StatusCode)
	}
	return 0, fmt.Errorf("%w: the server returned status %d", errNotFound, r.StatusCode)
}

// contentRange parses "bytes 100-199/200". An unknown total is negative.
func contentRange(text string) (from, total int64, ok bool) {
	text, ok = strings.CutPrefix(text, "bytes ")
	span, all, slash := strings.Cut(text, "/")
	first, _, dash := strings.Cut(span, "-")
	from, err := strconv.ParseInt(first, 10, 64)
	if !ok || !slash || !dash || err != nil {
		return 0, 0, false
	}
	if all == "*" {
		return from, -1, true
	}
	total, err = strconv.ParseInt(all, 10, 64)
	return from, total, err == nil
}

// withoutURL removes the URL from an error: it may contain a password, and the caller names the
// place.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// errStalled is the cause of a canceled transfer.
var errStalled = errors.New("the server stopped sending")

// monitored is a response body that fails when it stalls, even if the server sends a byte now and
// then.
type monitored struct {
	io.ReadCloser
	ctx    context.Context
	got    atomic.Int64
	cancel context.CancelCauseFunc
	done   chan struct{}
}

func monitor(ctx context.Context, cancel context.CancelCauseFunc, body io.ReadCloser, stall time.Duration) *monitored {
	w := &monitored{ReadCloser: body, ctx: ctx, cancel: cancel, done: make(chan struct{})}
	go func() {
		ticker := time.NewTicker(stall)
		defer ticker.Stop()
		var before int64
		for {
			select {
			case <-w.done:
				return
			case <-ticker.C:
			}
			now := w.got.Load()
			if now-before < minPerStall {
				cancel(errStalled)
				return
			}
			before = now
		}
	}()
	return w
}

func (w *monitored) Read(into []byte) (int, error) {
	n, err := w.ReadCloser.Read(into)
	w.got.Add(int64(n))
	if err != nil && !errors.Is(err, io.EOF) && errors.Is(context.Cause(w.ctx), errStalled) {
		err = errStalled
	}
	return n, err
}

// Close must be called once.
func (w *monitored) Close() error {
	close(w.done)
	err := w.ReadCloser.Close()
	w.cancel(nil)
	return err
}
