package sample

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// The tests sample faster than a measurement. Only those that wait for the timeout have a short
// one: with the race detector, a TLS handshake is slow on a busy machine.
const (
	testInterval = 40 * time.Millisecond
	testTimeout  = 8 * time.Second
	shortTimeout = 400 * time.Millisecond
	waitTimeout  = 10 * time.Second
)

// apiServer is a TLS server with HTTP/2, like an API server. It calls state, if set, for each
// connection state.
func apiServer(t *testing.T, l net.Listener, handler http.HandlerFunc, state func(net.Conn, http.ConnState)) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	if l != nil {
		server.Listener.Close()
		server.Listener = l
	}
	server.EnableHTTP2 = true
	server.Config.ConnState = state
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // tests abort handshakes on purpose
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func restConfig(server *httptest.Server) *rest.Config {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return &rest.Config{
		Host:            server.URL,
		BearerToken:     "a-token-that-nobody-may-see",
		TLSClientConfig: rest.TLSClientConfig{CAData: ca},
	}
}

func startAPI(t *testing.T, api *rest.Config, timeout time.Duration) *Sampler {
	t.Helper()
	return start(t, t.Context(), Config{API: api, Namespace: "default", ConfigMap: "sampled", Timeout: timeout})
}

func start(t *testing.T, ctx context.Context, c Config) *Sampler {
	t.Helper()
	c.Interval = testInterval
	c.Timeout = cmp.Or(c.Timeout, testTimeout)
	s, err := Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	return s
}

func kindOf(t *testing.T, r Report, kind Kind) KindReport {
	t.Helper()
	k, ok := r.Kind(kind)
	if !ok {
		t.Fatalf("no %s in the report", kind)
	}
	return k
}

// eventually polls the live report until it holds.
func eventually(t *testing.T, s *Sampler, what string, holds func(Report) bool) {
	t.Helper()
	for deadline := time.Now().Add(waitTimeout); ; time.Sleep(5 * time.Millisecond) {
		r := s.Report()
		if holds(r) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not seen in %s: %s; the report is %+v", waitTimeout, what, r)
		}
	}
}

// bothKinds reports whether a condition holds for api_new and api_reused.
func bothKinds(holds func(KindReport) bool) func(Report) bool {
	return func(r Report) bool {
		fresh, _ := r.Kind(KindAPINew)
		reused, _ := r.Kind(KindAPIReused)
		return holds(fresh) && holds(reused)
	}
}

func TestAPIAvailable(t *testing.T) {
	var (
		mu       sync.Mutex
		requests = map[string]int{}            // by what is asked
		by       = map[string]map[string]int{} // protocol and client address: one per connection
	)
	server := apiServer(t, nil, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		requests[fmt.Sprintf("%s %s %s", r.Proto, r.RequestURI, r.Header.Get("Authorization"))]++
		if by[r.Proto] == nil {
			by[r.Proto] = map[string]int{}
		}
		by[r.Proto][r.RemoteAddr]++
		fmt.Fprint(w, `{"kind":"ConfigMap"}`)
	}, nil)

	s := startAPI(t, restConfig(server), 0)
	eventually(t, s, "10 samples of each, 10 of api_reused over one connection", func(r Report) bool {
		mu.Lock()
		defer mu.Unlock()
		most := 0
		for _, n := range by["HTTP/2.0"] {
			most = max(most, n)
		}
		return most >= 10 && bothKinds(func(k KindReport) bool { return k.Samples >= 10 })(r)
	})
	r := s.Stop()
	fresh, reused := kindOf(t, r, KindAPINew), kindOf(t, r, KindAPIReused)
	if fresh.Failed+reused.Failed > 0 {
		t.Fatalf("samples failed: %v, %v", fresh.Reasons, reused.Reasons)
	}

	const uri = " /api/v1/namespaces/default/configmaps/sampled Bearer a-token-that-nobody-may-see"
	if got := requests["HTTP/1.1"+uri]; got != fresh.Samples || len(by["HTTP/1.1"]) != fresh.Samples {
		t.Errorf("%d requests of api_new over %d connections, want %d; all are %v", got, len(by["HTTP/1.1"]), fresh.Samples, requests)
	}
	if got := requests["HTTP/2.0"+uri]; got != reused.Samples {
		t.Errorf("%d requests of api_reused, want %d; all are %v", got, reused.Samples, requests)
	}
}

func TestAPIOutage(t *testing.T) {
	answer := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }
	server := apiServer(t, nil, answer, nil)
	addr := server.Listener.Addr().String()
	s := startAPI(t, restConfig(server), 0)
	eventually(t, s, "good samples", bothKinds(func(k KindReport) bool { return k.Samples > 5 && k.Failed == 0 }))

	server.Listener.Close()
	server.CloseClientConnections()
	eventually(t, s, "an open gap", bothKinds(func(k KindReport) bool {
		return k.GapsOpen == 1 && k.Failed >= 5 && k.Reasons[reasonRefused] > 0
	}))

	apiServer(t, listenAt(t, addr), answer, nil) // httptest's certificate is always the same
	eventually(t, s, "the gap is over", bothKinds(func(k KindReport) bool { return k.GapsOpen == 0 }))

	r := s.Stop()
	for _, kind := range []Kind{KindAPINew, KindAPIReused} {
		k := kindOf(t, r, kind)
		if k.GapCount < 1 || k.GapSeconds < 4*testInterval.Seconds() || k.GapSeconds > r.Seconds || k.LongestGapSeconds > k.GapSeconds {
			t.Errorf("%s: %+v in %.3f s", kind, k, r.Seconds)
		}
	}
}

func listenAt(t *testing.T, addr string) net.Listener {
	t.Helper()
	for deadline := time.Now().Add(waitTimeout); ; time.Sleep(5 * time.Millisecond) {
		l, err := net.Listen("tcp", addr)
		if err == nil {
			return l
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// silentListener accepts connections and never responds. It counts the open connections, and their
// maximum.
type silentListener struct {
	net.Listener
	open, most atomic.Int64
}

func listenSilently(t *testing.T) *silentListener {
	t.Helper()
	l := &silentListener{Listener: listenAt(t, "127.0.0.1:0")}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			l.most.Store(max(l.most.Load(), l.open.Add(1)))
			go func() {
				defer l.open.Add(-1)
				defer conn.Close()
				io.Copy(io.Discard, conn) //nolint:errcheck // ends when the client disconnects
			}()
		}
	}()
	return l
}

func TestAPIAcceptsAndNeverResponds(t *testing.T) {
	l := listenSilently(t)
	s := startAPI(t, &rest.Config{Host: "https://" + l.Addr().String(), TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, shortTimeout)
	eventually(t, s, "many failed samples", bothKinds(func(k KindReport) bool { return k.Failed >= 40 }))
	r := s.Stop()
	for _, kind := range []Kind{KindAPINew, KindAPIReused} {
		k := kindOf(t, r, kind)
		// Sequentially, they would take 16 s, longer than waitTimeout.
		if k.Failed != k.Samples || k.Reasons[reasonConnectTimeout] != k.Failed || k.GapCount != 1 || k.GapsOpen != 1 {
			t.Errorf("%s: %+v", kind, k)
		}
	}
}

func TestServiceNeverRespondsAndConnectionsDoNotPileUp(t *testing.T) {
	l := listenSilently(t)
	s := startService(t, "http://"+l.Addr().String(), shortTimeout, "w1")
	eventually(t, s, "many failed samples", func(r Report) bool {
		k, _ := r.Kind(KindService)
		return k.Failed >= 40 && k.Reasons[reasonResponseTimeout] > 0
	})
	s.Stop()
	if most, limit := l.most.Load(), 2*int64(shortTimeout/testInterval); most > limit {
		t.Errorf("%d connections were open at once, want at most %d", most, limit)
	}
}

func TestHandshakesDoNotPileUp(t *testing.T) {
	l := listenSilently(t)
	rt, err := newConnections(&rest.Config{Host: "https://" + l.Addr().String(), TLSClientConfig: rest.TLSClientConfig{Insecure: true}}, ms(500))
	if err != nil {
		t.Fatal(err)
	}
	ask := get(rt, "https://"+l.Addr().String())
	ctx, cancel := context.WithTimeout(t.Context(), ms(200))
	defer cancel()
	if reason := ask(ctx); reason != reasonConnectTimeout {
		t.Errorf("the reason is %q", reason)
	}
	waitFor(t, "the aborted handshake is closed", func() bool { return l.most.Load() == 1 && l.open.Load() == 0 })
}

func TestDialsDoNotPileUp(t *testing.T) {
	var open, most atomic.Int64
	hang := func(ctx context.Context, _, _ string) (net.Conn, error) {
		most.Store(max(most.Load(), open.Add(1)))
		defer open.Add(-1)
		<-ctx.Done()
		return nil, fmt.Errorf("dial: %w", ctx.Err())
	}
	ask := get(singleUse(hang, ms(500)), "http://service.example")
	ctx, cancel := context.WithTimeout(t.Context(), ms(200))
	defer cancel()
	if reason := ask(ctx); reason != reasonConnectTimeout {
		t.Errorf("the reason is %q", reason)
	}
	waitFor(t, "the aborted dial has ended", func() bool { return most.Load() == 1 && open.Load() == 0 })
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitTimeout); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not seen in %s: %s", waitTimeout, what)
		}
	}
}

func TestStopClosesTheReusedConnection(t *testing.T) {
	var open atomic.Int64
	server := apiServer(t, nil, func(http.ResponseWriter, *http.Request) {}, func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	})
	s := startAPI(t, restConfig(server), 0)
	eventually(t, s, "good samples", bothKinds(func(k KindReport) bool { return k.Samples > 2 }))
	s.Stop()
	waitFor(t, "no connection is left", func() bool { return open.Load() == 0 })
}

func TestFailedResponses(t *testing.T) {
	tests := map[string]struct {
		answer  http.HandlerFunc
		timeout time.Duration
		want    string
	}{
		"500":                      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, 0, "http 500"},
		"another success than 200": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, 0, "http 204"},
		"redirect to a good answer": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/elsewhere" {
				http.Redirect(w, r, "/elsewhere", http.StatusFound)
			}
		}, 0, "http 302"},
		"body never ends": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "half")
			w.(http.Flusher).Flush() //nolint:forcetypeassert // a test server's writer always is
			<-r.Context().Done()
		}, 2 * shortTimeout, reasonResponseTimeout},
		"body is cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "half")
		}, 0, reasonClosed},
		"connection is closed without an answer": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, reasonClosed},
	}
	for situation, tt := range tests {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tt.answer)
			t.Cleanup(server.Close)
			s := startService(t, server.URL, tt.timeout, "w1")
			eventually(t, s, "failed samples", func(r Report) bool {
				k, _ := r.Kind(KindService)
				return k.Failed >= 3
			})
			k := kindOf(t, s.Stop(), KindService)
			if k.Failed != k.Samples || k.Reasons[tt.want] != k.Failed || k.GapCount != 1 {
				t.Errorf("%+v, want all failed for %q", k.Totals, tt.want)
			}
		})
	}
}

func TestConnectionFailures(t *testing.T) {
	closed := listenAt(t, "127.0.0.1:0")
	closed.Close()
	server := apiServer(t, nil, func(http.ResponseWriter, *http.Request) {}, nil)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	fails := func(err error) DialFunc {
		return func(context.Context, string, string) (net.Conn, error) { return nil, err }
	}
	tests := map[string]struct {
		dial DialFunc
		url  string
		want string
	}{
		"nobody listens":             {(&net.Dialer{}).DialContext, "http://" + closed.Addr().String(), reasonRefused},
		"certificate is not trusted": {(&net.Dialer{}).DialContext, server.URL, reasonTLS},
		"no TLS where it should be":  {(&net.Dialer{}).DialContext, strings.Replace(plain.URL, "http:", "https:", 1), reasonTLS},
		"name is not resolved":       {fails(&net.DNSError{Err: "no such host"}), "http://service.example", reasonName},
		"an error of another kind":   {fails(errors.New("secret-word")), "http://user:secret-word@service.example", reasonOther},
	}
	for situation, tt := range tests {
		t.Run(situation, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
			defer cancel()
			if got := get(singleUse(tt.dial, waitTimeout), tt.url)(ctx); got != tt.want {
				t.Errorf("the reason is %q, want %q", got, tt.want)
			}
		})
	}
}

// startService samples from nodes that dial like this machine.
func startService(t *testing.T, url string, timeout time.Duration, nodes ...string) *Sampler {
	t.Helper()
	from := map[string]DialFunc{}
	for _, node := range nodes {
		from[node] = (&net.Dialer{}).DialContext
	}
	return start(t, t.Context(), Config{ServiceURL: url, From: from, Timeout: timeout})
}

func TestServiceWithOneNodeExcluded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	var cut atomic.Bool
	var dials atomic.Int64
	s := start(t, t.Context(), Config{ServiceURL: server.URL, From: map[string]DialFunc{
		"w1": (&net.Dialer{}).DialContext,
		"w2": func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials.Add(1)
			if cut.Load() {
				return nil, errors.New("the node's network is down")
			}
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		},
	}})
	node := func(r Report, i int) NodeReport {
		k, _ := r.Kind(KindService)
		return k.Nodes[i]
	}
	eventually(t, s, "good samples", func(r Report) bool { return node(r, 0).Samples > 3 && node(r, 1).Samples > 3 })

	cut.Store(true)
	eventually(t, s, "a gap of w2", func(r Report) bool { return node(r, 1).Failed >= 3 })
	if err := s.Exclude("w2"); err != nil {
		t.Fatal(err)
	}
	excluded := node(s.Report(), 1)
	s.byNode["w2"].inFlight.Wait() // samples in flight may still dial
	quiet, seen := dials.Load(), node(s.Report(), 0).Samples
	eventually(t, s, "w1 continues", func(r Report) bool { return node(r, 0).Samples > seen+10 })
	if got := node(s.Report(), 1); got.Samples != excluded.Samples || got.GapSeconds != excluded.GapSeconds || got.GapsOpen != 1 {
		t.Errorf("w2 changed while excluded: %+v, was %+v", got, excluded)
	}
	if dials.Load() != quiet {
		t.Error("w2 dialed while excluded")
	}

	cut.Store(false)
	if err := s.Include("w2"); err != nil {
		t.Fatal(err)
	}
	eventually(t, s, "w2 is sampled again", func(r Report) bool { return node(r, 1).Samples > excluded.Samples+3 })
	k := kindOf(t, s.Stop(), KindService)
	w1, w2 := k.Nodes[0], k.Nodes[1]
	if w1.Node != "w1" || w1.Failed != 0 || w2.Failed != excluded.Failed || w2.GapCount != 1 {
		t.Errorf("w1 is %+v, w2 is %+v", w1, w2)
	}
	if k.Samples != w1.Samples+w2.Samples || k.Failed != w2.Failed || k.LongestGapSeconds != w2.LongestGapSeconds {
		t.Errorf("the sum is %+v of %+v and %+v", k.Totals, w1, w2)
	}
	if w2.WatchedSeconds >= w1.WatchedSeconds {
		t.Errorf("w2 was watched for %v s, w1 for %v s", w2.WatchedSeconds, w1.WatchedSeconds)
	}
}

func TestExcludeOfUnsampledNode(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	s := startService(t, server.URL, 0, "w1")
	if err := s.Exclude("w9"); !errors.Is(err, ErrUnknownNode) {
		t.Errorf("Exclude: %v", err)
	}
	if err := s.Include("w9"); !errors.Is(err, ErrUnknownNode) {
		t.Errorf("Include: %v", err)
	}
}

func TestEndOfContextIsNotAFailure(t *testing.T) {
	asked := make(chan struct{})
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		once.Do(func() { close(asked) })
		select { // keeps a sample in flight
		case <-time.After(5 * testInterval):
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	s := start(t, ctx, Config{ServiceURL: server.URL, From: map[string]DialFunc{"w1": (&net.Dialer{}).DialContext}})
	<-asked
	cancel()
	s.loops.Wait()
	ended := s.Report().Seconds
	r := s.Stop()
	if k := kindOf(t, r, KindService); k.Samples == 0 || k.Failed != 0 || r.Seconds != ended {
		t.Errorf("%+v after %v s, ended at %v s", k.Totals, r.Seconds, ended)
	}
}

func TestStopTwice(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	s := startService(t, server.URL, 0, "w1", "w2")
	eventually(t, s, "samples", func(r Report) bool { return r.Kinds[0].Samples > 5 })
	first, err := json.Marshal(s.Stop())
	if err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(s.Stop())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Errorf("the reports differ:\n%s\n%s", first, second)
	}
}

func TestStartRejectsInvalidConfig(t *testing.T) {
	api := &rest.Config{Host: "https://127.0.0.1:1"}
	from := map[string]DialFunc{"w1": (&net.Dialer{}).DialContext}
	tests := map[string]Config{
		"nothing to sample":         {},
		"API without a ConfigMap":   {API: api, Namespace: "default"},
		"API without a namespace":   {API: api, ConfigMap: "sampled"},
		"API without a host":        {API: &rest.Config{}, Namespace: "default", ConfigMap: "sampled"},
		"API with a broken CA":      {API: &rest.Config{Host: api.Host, TLSClientConfig: rest.TLSClientConfig{CAData: []byte("?")}}, Namespace: "default", ConfigMap: "sampled"},
		"Service without nodes":     {ServiceURL: "http://127.0.0.1:1"},
		"nodes without a Service":   {API: api, Namespace: "default", ConfigMap: "sampled", From: from},
		"Service URL is no http":    {ServiceURL: "https://127.0.0.1:1", From: from},
		"Service URL has no host":   {ServiceURL: "http:///path", From: from},
		"interval is negative":      {ServiceURL: "http://127.0.0.1:1", From: from, Interval: -1},
		"timeout is negative":       {ServiceURL: "http://127.0.0.1:1", From: from, Timeout: -1},
		"a node has no way to dial": {ServiceURL: "http://127.0.0.1:1", From: map[string]DialFunc{"w1": nil}},
	}
	for situation, c := range tests {
		t.Run(situation, func(t *testing.T) {
			if s, err := Start(t.Context(), c); err == nil {
				s.Stop()
				t.Error("want an error")
			}
		})
	}
}
