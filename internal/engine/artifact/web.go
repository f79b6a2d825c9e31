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

// How long a server may say nothing, how little it may send in that time, and how often it may send us elsewhere.
const (
	stallAfter    = 30 * time.Second
	leastPerStall = 4 << 10
	mostRedirects = 5
)

// web asks servers. The proxy is the environment's, as the host's owner set it for the service; it cannot change a file unnoticed either.
type web struct {
	client *http.Client
	stall  time.Duration
}

func newWeb() *web { return newWebWithin(stallAfter) }

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
			DisableCompression:    true, // sizes and offsets are those of the file
		},
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			switch {
			case len(before) > mostRedirects:
				return errors.New("it leads from one place to the next without end")
			case next.URL.Scheme != "https" && (next.URL.Scheme != "http" || before[0].URL.Scheme == "https"):
				return errors.New("it leads away from https")
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

// at is a path below the mirror. The path is escaped as a whole: a percent sign in a file's name is one.
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

// String leaves the query out: it may hold a signature that lets its reader in.
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
	start, err := judge(response, b, offset)
	if err != nil {
		_ = response.Body.Close() // nothing of it was wanted
		cancel(nil)
		if errors.Is(err, errFromStart) {
			return w.open(caller, b, 0)
		}
		return nil, 0, err
	}
	return watch(ctx, cancel, response.Body, w.web.stall), start, nil
}

func (w *webFile) get(ctx context.Context, offset int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url.String(), http.NoBody)
	if err != nil {
		return nil, errors.New("its address cannot be used")
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

// errFromStart is the judgment that a server gives no part of the file that fits what is here already.
var errFromStart = errors.New("it has to be asked for all of the file")

// judge decides whether an answer is the file that is wanted, and from which offset on. A server may ignore that only a part was asked for, or have
// another file by now; neither may end in a file put together from two.
func judge(r *http.Response, b refitv1alpha1.Blob, offset int64) (start int64, err error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return 0, fmt.Errorf("%w: it comes encoded", errAnother)
	}
	switch {
	case r.StatusCode == http.StatusOK && r.ContentLength >= 0 && r.ContentLength != b.Size:
		return 0, fmt.Errorf("%w: it has %d bytes instead of %d", errAnother, r.ContentLength, b.Size)
	case r.StatusCode == http.StatusOK:
		return 0, nil
	case r.StatusCode == http.StatusPartialContent && offset > 0:
		from, total, ok := contentRange(r.Header.Get("Content-Range"))
		if !ok || from != offset {
			return 0, errFromStart
		}
		if total >= 0 && total != b.Size {
			return 0, fmt.Errorf("%w: it has %d bytes instead of %d", errAnother, total, b.Size)
		}
		return offset, nil
	case r.StatusCode == http.StatusRequestedRangeNotSatisfiable && offset > 0:
		return 0, errFromStart
	case r.StatusCode == http.StatusNotFound, r.StatusCode == http.StatusGone:
		return 0, errElsewhere
	case r.StatusCode >= 500, r.StatusCode == http.StatusTooManyRequests, r.StatusCode == http.StatusRequestTimeout:
		return 0, fmt.Errorf("the server answers %d", r.StatusCode)
	}
	return 0, fmt.Errorf("%w: the server answers %d", errElsewhere, r.StatusCode)
}

// contentRange reads "bytes 100-199/200". A total that the server does not tell is negative.
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

// withoutURL takes the address out of an error: it may hold a password, and who tells of the error names the place anyway.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// errStalled is why a transfer was given up: as good as nothing came.
var errStalled = errors.New("the server has stopped sending")

// watched is a body that is given up when it stalls, also by a server that sends a byte now and then.
type watched struct {
	io.ReadCloser
	ctx    context.Context
	got    atomic.Int64
	cancel context.CancelCauseFunc
	done   chan struct{}
}

func watch(ctx context.Context, cancel context.CancelCauseFunc, body io.ReadCloser, stall time.Duration) *watched {
	w := &watched{ReadCloser: body, ctx: ctx, cancel: cancel, done: make(chan struct{})}
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
			if now-before < leastPerStall {
				cancel(errStalled)
				return
			}
			before = now
		}
	}()
	return w
}

func (w *watched) Read(into []byte) (int, error) {
	n, err := w.ReadCloser.Read(into)
	w.got.Add(int64(n))
	if err != nil && !errors.Is(err, io.EOF) && errors.Is(context.Cause(w.ctx), errStalled) {
		err = errStalled
	}
	return n, err
}

// Close is called once, by who opened it.
func (w *watched) Close() error {
	close(w.done)
	err := w.ReadCloser.Close()
	w.cancel(nil)
	return err
}
