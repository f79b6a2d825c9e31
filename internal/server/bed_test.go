package server_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
	"github.com/refit-dev/refit/internal/server"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/certificate"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// wait is the longest that a test waits for anything.
const wait = 20 * time.Second

// bed is a running server and its cluster, whose users are their tokens: viewer, viewer-1 and so on
// may list, approver may do everything, and nobody else may do anything.
type bed struct {
	*server.Server
	objects client.WithWatch
	down    *atomic.Bool  // whether the API server answers nothing
	hung    *atomic.Bool  // whether it does not even refuse
	revoked *atomic.Bool  // whether it rejects all tokens
	slow    *atomic.Bool  // whether it does not answer reviews
	waiting *atomic.Int64 // the number of reviews that it did not answer
	ahead   *atomic.Int64 // how far the server's clock is ahead
	url     string
	client  *http.Client
	dir     string
	socket  string // of the agent of this host
	stop    func()

	mu      sync.Mutex
	observe server.Observe // what checks read; guarded by mu
}

// observing sets what checks read.
func (b *bed) observing(snapshot func() *cluster.Snapshot) *bed {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.observe = func(context.Context, *rest.Config, func(string)) (*cluster.Snapshot, error) { return snapshot(), nil }
	return b
}

// admin returns the cookie of a session with the credentials of the server.
func (b *bed) admin(t *testing.T) string {
	t.Helper()
	return b.signIn(t, api.SignIn{Code: b.NewCode()})
}

// review answers reviews as an API server does, fails everything while it is down, and answers
// nothing while it hangs.
func (b *bed) review() interceptor.Funcs {
	refused := func(ctx context.Context) error {
		if b.hung.Load() {
			<-ctx.Done()
			return ctx.Err()
		}
		if b.down.Load() {
			return &net.OpError{Op: "dial", Err: io.EOF}
		}
		return nil
	}
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if b.slow.Load() {
				b.waiting.Add(1)
				<-ctx.Done()
				return ctx.Err()
			}
			if err := refused(ctx); err != nil {
				return err
			}
			switch r := object.(type) {
			case *authenticationv1.TokenReview:
				user := userOf(r.Spec.Token)
				r.Status.Authenticated = !b.revoked.Load() && (strings.HasPrefix(user, "viewer") || user == "approver" || user == "nobody")
				r.Status.User.Username = user
				return nil
			case *authenticationv1.SelfSubjectReview:
				r.Status.UserInfo.Username = "admin"
				return nil
			case *authorizationv1.SubjectAccessReview:
				r.Status.Allowed = r.Spec.User == "approver" || strings.HasPrefix(r.Spec.User, "viewer") && r.Spec.ResourceAttributes.Verb == "list"
				return nil
			}
			return c.Create(ctx, object, options...)
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if err := refused(ctx); err != nil {
				return err
			}
			return c.Get(ctx, key, object, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if err := refused(ctx); err != nil {
				return err
			}
			return c.List(ctx, list, options...)
		},
	}
}

// userOf returns the user of a token: its subject if it is an ID token, or else the token.
func userOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return token
	}
	var claims struct {
		Sub string `json:"sub"`
	}
	raw, _ := base64.RawURLEncoding.DecodeString(parts[1])
	_ = json.Unmarshal(raw, &claims)
	return claims.Sub
}

func newBed(t *testing.T, objects ...client.Object) *bed {
	t.Helper()
	return startBed(t, operationstest.NewClient(t, objects...), t.TempDir(), false)
}

// startBed starts a server with the state in a directory. The API server may be down from the
// start.
func startBed(t *testing.T, objects client.WithWatch, directory string, down bool, configure ...func(*server.Options)) *bed {
	t.Helper()
	b := &bed{
		objects: objects, down: &atomic.Bool{}, hung: &atomic.Bool{}, revoked: &atomic.Bool{}, ahead: &atomic.Int64{},
		slow: &atomic.Bool{}, waiting: &atomic.Int64{}, dir: directory, socket: filepath.Join(shortDirectory(t), "agent.sock"),
	}
	b.down.Store(down)
	own := &operations.Cluster{
		Client: interceptor.NewClient(objects, b.review()), Name: "prod", Command: "refit",
		Now:        func() time.Time { return time.Now().Add(time.Duration(b.ahead.Load())) },
		Controller: client.ObjectKey{Namespace: "refit-system", Name: "refit-controller"},
	}
	options := server.Options{
		Cluster: own, Config: &rest.Config{Host: "https://127.0.0.1:1"}, Directory: directory, Hosts: []string{"127.0.0.1"}, OneTimeCodes: true,
		AgentSocket: b.socket, Log: slog.New(slog.DiscardHandler),
		Observe: func(ctx context.Context, config *rest.Config, part func(string)) (*cluster.Snapshot, error) {
			b.mu.Lock()
			observe := b.observe
			b.mu.Unlock()
			return observe(ctx, config, part)
		},
	}
	for _, change := range configure {
		change(&options)
	}
	var err error
	b.Server, err = server.New(options)
	must(t, err)
	source, err := certificate.Own(directory, []string{"127.0.0.1"}, time.Now)
	must(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx, listener, source.Config()) }()
	b.stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		done <- nil
	}
	t.Cleanup(b.stop)
	b.url = "https://" + listener.Addr().String()
	b.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true,
	}}
	t.Cleanup(b.client.CloseIdleConnections)
	return b
}

// shortDirectory returns a directory for a unix socket, whose path has at most 108 bytes.
func shortDirectory(t *testing.T) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "refit") //nolint:usetesting // the path would be too long
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	return directory
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// request is a request of a test. Its credentials are a token, or the cookie of a session.
type request struct {
	method, path, token, cookie string
	body                        any
	raw                         string // a body that is sent as it is
	header                      http.Header
}

func (b *bed) send(t *testing.T, r request) (*http.Response, []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	answer := b.open(t, ctx, r)
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer, body
}

func (b *bed) open(t *testing.T, ctx context.Context, r request) *http.Response {
	t.Helper()
	var body io.Reader
	if r.body != nil {
		content, err := json.Marshal(r.body)
		must(t, err)
		body = bytes.NewReader(content)
	}
	if r.raw != "" {
		body = strings.NewReader(r.raw)
	}
	if r.method == "" {
		r.method = http.MethodGet
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, b.url+r.path, body)
	must(t, err)
	maps.Copy(sent.Header, r.header)
	if r.body != nil {
		sent.Header.Set("Content-Type", "application/json")
	}
	if r.token != "" {
		sent.Header.Set("Authorization", "Bearer "+r.token)
	}
	if r.cookie != "" {
		sent.Header.Set("Cookie", "__Host-refit="+r.cookie)
	}
	answer, err := b.client.Do(sent)
	must(t, err)
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// get reads a document as a user.
func get[T any](t *testing.T, b *bed, path, token string) (out T) {
	t.Helper()
	answer, body := b.send(t, request{path: path, token: token})
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, answer.StatusCode, body)
	}
	decode(t, body, &out)
	return out
}

func decode(t *testing.T, content []byte, into any) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%v in %s", err, content)
	}
}

// current waits until the server has read the cluster.
func (b *bed) current(t *testing.T) *bed {
	t.Helper()
	b.eventually(t, "the state is current", func() bool {
		answer, body := b.send(t, request{path: "/api/v1alpha1/state", token: "viewer"})
		return answer.StatusCode == http.StatusOK && strings.Contains(string(body), `"source":"api"`)
	})
	return b
}

func (b *bed) eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(wait); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never happens that %s", what)
		}
	}
}

// event is a server-sent event.
type event struct{ id, kind, data string }

// follow follows the events as a viewer.
func (b *bed) follow(t *testing.T, lastEventID string) <-chan event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	t.Cleanup(cancel)
	r := request{path: "/api/v1alpha1/events", token: "viewer", header: http.Header{}}
	if lastEventID != "" {
		r.header.Set("Last-Event-ID", lastEventID)
	}
	answer := b.open(t, ctx, r)
	if answer.StatusCode != http.StatusOK || answer.Header.Get("X-Accel-Buffering") != "no" || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", answer.StatusCode, answer.Header)
	}
	out := make(chan event, 1000)
	go func() {
		defer close(out)
		var e event
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			switch key, value, _ := strings.Cut(lines.Text(), ": "); key {
			case "id":
				e.id = value
			case "event":
				e.kind = value
			case "data":
				e.data = value
			case "":
				if e.kind != "" {
					out <- e
				}
				e = event{}
			}
		}
	}()
	return out
}

// next returns the next event of a kind.
func next[T any](t *testing.T, events <-chan event, kind string) (e event, data T) {
	t.Helper()
	for e := range events {
		if e.kind == kind {
			decode(t, []byte(e.data), &data)
			return e, data
		}
	}
	t.Fatalf("there is no event %s", kind)
	return e, data
}

func upgrade() *refitv1alpha1.ClusterUpgrade {
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "op", UID: "u"}}
	u.Status.Phase = refitv1alpha1.PhaseRunning
	return u
}

func node(name string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Status.NodeInfo.KubeletVersion = "v1.35.4"
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return n
}

func problemOf(t *testing.T, body []byte) (out api.Problem) {
	t.Helper()
	decode(t, body, &out)
	return out
}
