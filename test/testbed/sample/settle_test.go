package sample

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A new Service refuses connections until kube-proxy has programmed it.
func TestAServiceThatIsNotProgrammedYetIsNotMeasured(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	var refused atomic.Int32
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		if refused.Add(1) <= 5 {
			addr = "127.0.0.1:1"
		}
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}
	config := Config{ServiceURL: server.URL, From: map[string]DialFunc{"w1": dial}, Interval: testInterval, Timeout: testTimeout}
	if err := Settle(t.Context(), config, 3*testInterval); err != nil {
		t.Fatal(err)
	}
	s := start(t, t.Context(), config)
	eventually(t, s, "five samples", func(r Report) bool { k, _ := r.Kind(KindService); return k.Samples >= 5 })
	if k := kindOf(t, s.Stop(), KindService); k.Failed > 0 {
		t.Errorf("%d samples failed after the Service had settled", k.Failed)
	}
}

func TestAServiceThatNeverSettlesIsReported(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*testInterval)
	defer cancel()
	refuse := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:1")
	}
	err := Settle(ctx, Config{ServiceURL: "http://shop", From: map[string]DialFunc{"w1": refuse}, Interval: testInterval}, time.Second)
	if err == nil || !strings.Contains(err.Error(), "service w1") {
		t.Errorf("got %v, want an error that names service w1", err)
	}
}

func TestSettled(t *testing.T) {
	good := func(ms int) Sample { return Sample{Start: time.Duration(ms) * time.Millisecond} }
	bad := func(ms int) Sample {
		return Sample{Start: time.Duration(ms) * time.Millisecond, Reason: reasonRefused}
	}
	for name, c := range map[string]struct {
		samples []Sample
		want    bool
	}{
		"no sample":                    {nil, false},
		"good for the whole time":      {[]Sample{good(0), good(500), good(1000)}, true},
		"good for too short a time":    {[]Sample{good(0), good(500)}, false},
		"a failure at the start":       {[]Sample{bad(0), good(100), good(1100)}, true},
		"a failure restarts the time":  {[]Sample{good(0), good(500), bad(600), good(700), good(1200)}, false},
		"a failure at the end":         {[]Sample{good(0), good(1000), bad(1100)}, false},
		"a failure that arrives late":  {[]Sample{good(100), good(1200), bad(0)}, false},
		"only failures for a long run": {[]Sample{bad(0), bad(5000)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := settled(observation{spans: []Span{{Samples: c.samples}}}, time.Second); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
