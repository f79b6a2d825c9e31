package observe

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// meter counts what one Snapshot costs, and learns the server's clock on the way: a Lease that the server's clock calls fresh may look stale on a
// laptop whose clock is wrong.
type meter struct {
	requests atomic.Int64
	bytes    atomic.Int64 // of answers, as they are read, after decompression
	ahead    atomic.Int64 // how far the server's clock is ahead of ours, in nanoseconds
}

func (m *meter) cost() (requests int, bytes int64) { return int(m.requests.Load()), m.bytes.Load() }

// now is the time by the server's clock, to a second or so.
func (m *meter) now() time.Time { return time.Now().Add(time.Duration(m.ahead.Load())) }

// meterKey is where a context carries the meter of its Snapshot.
type meterKey struct{}

func withMeter(ctx context.Context, m *meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// metered counts the requests of those who carry a meter.
func metered(next http.RoundTripper) http.RoundTripper { return meteredTransport{next} }

type meteredTransport struct{ next http.RoundTripper }

func (t meteredTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	m, _ := request.Context().Value(meterKey{}).(*meter)
	if m == nil {
		return t.next.RoundTrip(request)
	}
	m.requests.Add(1)
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return response, err
	}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		m.ahead.Store(int64(time.Until(date)))
	}
	response.Body = meteredBody{response.Body, m}
	return response, nil
}

type meteredBody struct {
	io.ReadCloser
	meter *meter
}

func (b meteredBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.meter.bytes.Add(int64(n))
	return n, err
}
