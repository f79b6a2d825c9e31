//go:build apiserver

package serve

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/operations"
	"github.com/refit-dev/refit/internal/server"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/certificate"
	"github.com/refit-dev/refit/test/apiserver"
)

const (
	config    = "../../../config/"
	namespace = "refit-system"
	wait      = 30 * time.Second
	hash      = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	os.Exit(apiserver.Main(m))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// cluster is an API server with Refit's CRDs, policies and roles.
type cluster struct {
	*apiserver.Server
	client.Client

	stays bool // no test stops it
}

var installed sync.Once

// shared returns the cluster of all tests that do not stop it.
func shared(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{Server: apiserver.Shared(t, apiserver.Options{}), stays: true}
	c.connect(t)
	installed.Do(func() { c.installRefit(t) })
	return c
}

// apart returns a cluster of its own, which the test may stop.
func apart(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{Server: apiserver.Start(t, apiserver.Options{})}
	c.connect(t)
	c.installRefit(t)
	return c
}

func (c *cluster) connect(t *testing.T) {
	t.Helper()
	kinds := runtime.NewScheme()
	must(t, clientgoscheme.AddToScheme(kinds))
	must(t, refitv1alpha1.AddToScheme(kinds))
	var err error
	c.Client, err = client.New(c.RESTConfig(), client.Options{Scheme: kinds})
	must(t, err)
}

func (c *cluster) installRefit(t *testing.T) {
	t.Helper()
	for _, part := range []string{"crd", "rbac", "policy"} {
		c.Install(t, config+part)
	}
	must(t, client.IgnoreAlreadyExists(c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})))
}

// token returns a token of a ServiceAccount with this ClusterRole, empty for none.
func (c *cluster) token(t *testing.T, name, role string) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}
	must(t, client.IgnoreAlreadyExists(c.Create(t.Context(), account)))
	if role != "" {
		must(t, client.IgnoreAlreadyExists(c.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "serve-" + name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: namespace}},
		})))
	}
	request := &authenticationv1.TokenRequest{}
	must(t, c.SubResource("token").Create(t.Context(), account, request))
	return request.Status.Token
}

// operation creates an upgrade with a plan.
func (c *cluster) operation(t *testing.T, name string) {
	t.Helper()
	u := &refitv1alpha1.ClusterUpgrade{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"example.com/note": "canary-annotation"}}}
	u.Spec.Target.Kubernetes = "v1.36.3"
	must(t, c.Create(t.Context(), u))
	u.Status.Phase, u.Status.Message = refitv1alpha1.PhaseRunning, "Draining worker-1: 2 pods have to move"
	u.Status.Nodes, u.Status.Active, u.Status.ObservedGeneration = refitv1alpha1.NodeCounts{Total: 3, Done: 1}, []string{"worker-1"}, u.Generation
	u.Status.Plan = &refitv1alpha1.PlanSummary{
		Hash: hash, From: "v1.35.4", To: "v1.36.3", Estimate: metav1.Duration{Duration: 5 * time.Minute},
		Hops:   []refitv1alpha1.Hop{{Kubernetes: "v1.36.3", Release: refitv1alpha1.ReleaseRef{Name: "kubernetes-v1.36.3", Digest: hash}}},
		Stages: []refitv1alpha1.StageSummary{{Name: refitv1alpha1.StageWorkers, Kubernetes: "v1.36.3", Total: 2}},
	}
	must(t, c.Status().Update(t.Context(), u))
	t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), u) })
}

func (c *cluster) node(t *testing.T, name string) {
	t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"example.com/note": "canary-annotation"}}}
	n.Status.NodeInfo.KubeletVersion = "v1.35.4"
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	status := n.Status
	must(t, c.Create(t.Context(), n))
	n.Status = status
	must(t, c.Status().Update(t.Context(), n))
	t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), n) })
}

// serving is a running server.
type serving struct {
	*server.Server
	url, directory string
	client         *http.Client
	stays          bool         // no test stops its API server
	ahead          atomic.Int64 // how far the server's clock is ahead
	stop           func()
}

// serve starts a server with the credentials of an administrator.
func (c *cluster) serve(t *testing.T, directory string, change ...func(*server.Options)) *serving {
	t.Helper()
	return c.serveAt(t, "127.0.0.1:0", directory, change...)
}

func (c *cluster) serveAt(t *testing.T, address, directory string, change ...func(*server.Options)) *serving {
	t.Helper()
	s := &serving{directory: directory, stays: c.stays}
	objects, err := operations.NewClient(c.RESTConfig())
	must(t, err)
	clock := func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }
	options := server.Options{
		Cluster: &operations.Cluster{
			Client: objects, Name: "test", Command: "refit", Now: clock, Controller: client.ObjectKey{Namespace: namespace, Name: "refit-controller"},
		},
		Config: c.RESTConfig(), Directory: directory, Hosts: []string{"127.0.0.1"}, OneTimeCodes: true, Log: slog.New(slog.DiscardHandler),
	}
	for _, each := range change {
		each(&options)
	}
	s.Server, err = server.New(options)
	must(t, err)
	source, err := certificate.Own(directory, []string{"127.0.0.1"}, time.Now)
	must(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	must(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, listener, source.Config()) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	s.url = "https://" + listener.Addr().String()
	s.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true,
	}}
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

// request is a request with the credentials of a token, or of the cookie of a session.
type request struct {
	method, path, token, cookie string
	body                        string
	header                      http.Header
}

func (s *serving) open(ctx context.Context, t *testing.T, r request) *http.Response {
	t.Helper()
	if r.method == "" {
		r.method = http.MethodGet
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, s.url+r.path, strings.NewReader(r.body))
	must(t, err)
	maps.Copy(sent.Header, r.header)
	if r.body != "" && sent.Header.Get("Content-Type") == "" {
		sent.Header.Set("Content-Type", "application/json")
	}
	if r.token != "" {
		sent.Header.Set("Authorization", "Bearer "+r.token)
	}
	if r.cookie != "" {
		sent.Header.Set("Cookie", "__Host-refit="+r.cookie)
	}
	answer, err := s.client.Do(sent)
	must(t, err)
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// send sends a request, again if the caller has sent too many, or if the API server did not answer,
// as can happen for seconds on a loaded machine.
func (s *serving) send(t *testing.T, r request) (*http.Response, []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	for {
		answer := s.open(ctx, t, r)
		if answer.Header.Get("Content-Type") == "text/event-stream" {
			_ = answer.Body.Close()
			return answer, nil
		}
		body, err := io.ReadAll(answer.Body)
		must(t, err)
		limited := answer.StatusCode == http.StatusTooManyRequests && bytes.Contains(body, []byte("rate-limited")) && !strings.HasSuffix(r.path, "/session")
		stalled := s.stays && answer.StatusCode == http.StatusServiceUnavailable && bytes.Contains(body, []byte("api-unreachable"))
		if !limited && !stalled {
			return answer, body
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// signIn starts a session and returns its cookie.
func (s *serving) signIn(t *testing.T, credentials api.SignIn) string {
	t.Helper()
	content, err := json.Marshal(credentials)
	must(t, err)
	answer, body := s.send(t, request{method: http.MethodPost, path: "/api/v1alpha1/session", body: string(content)})
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("%d %s", answer.StatusCode, body)
	}
	return answer.Cookies()[0].Value
}

// current waits until the server has read the cluster.
func (s *serving) current(t *testing.T, token string) *serving {
	t.Helper()
	for end := time.Now().Add(wait); ; time.Sleep(100 * time.Millisecond) {
		answer, body := s.send(t, request{path: "/api/v1alpha1/state", token: token})
		if answer.StatusCode == http.StatusOK && strings.Contains(string(body), `"source":"api"`) {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("the state is never current: %d %s", answer.StatusCode, body)
		}
	}
}

// event is a server-sent event.
type event struct{ id, kind, data string }

func (s *serving) follow(t *testing.T, r request) <-chan event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*wait)
	t.Cleanup(cancel)
	r.path = "/api/v1alpha1/events"
	answer := s.open(ctx, t, r)
	if answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status)
	}
	out := make(chan event, 1000)
	go func() {
		defer close(out)
		var e event
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 16<<20)
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

// until returns the first event that a function accepts.
func until(t *testing.T, events <-chan event, what string, accept func(event) bool) event {
	t.Helper()
	for e := range events {
		if accept(e) {
			return e
		}
	}
	t.Fatalf("there is no event: %s", what)
	return event{}
}
