package observe

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// meter counts the requests and bytes of one Snapshot, and the offset of the server's clock: with a
// wrong local clock a fresh Lease would seem to be expired.
type meter struct {
	requests atomic.Int64
	bytes    atomic.Int64 // of responses, after decompression
	ahead    atomic.Int64 // offset of the server's clock in nanoseconds
}

func (m *meter) cost() (requests int, bytes int64) { return int(m.requests.Load()), m.bytes.Load() }

// now returns the time of the server's clock, with a precision of about a second.
func (m *meter) now() time.Time { return time.Now().Add(time.Duration(m.ahead.Load())) }

// meterKey is the context key of the meter.
type meterKey struct{}

func withMeter(ctx context.Context, m *meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// metered counts the requests whose context has a meter.
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
	if ahead, known := serverAhead(response); known {
		m.ahead.Store(int64(ahead))
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
