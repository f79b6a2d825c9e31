package connect

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/cli/exit"
)

const twoContexts = `
apiVersion: v1
kind: Config
current-context: staging
clusters:
- {name: a, cluster: {server: "https://staging.example:6443"}}
- {name: b, cluster: {server: "https://production.example:6443"}}
contexts:
- {name: staging, context: {cluster: a, user: me}}
- {name: production, context: {cluster: b, user: me}}
users:
- {name: me, user: {token: secret}}
`

// kubeconfig writes a file, and keeps the user's own out of the test.
func kubeconfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", path)
	return path
}

func TestLoadSelectsTheClusterAsKubectlDoes(t *testing.T) {
	path := kubeconfig(t, twoContexts)
	for situation, c := range map[string]struct {
		flags      Kubeconfig
		name, host string
	}{
		"the current context":  {Kubeconfig{}, "staging", "https://staging.example:6443"},
		"another context":      {Kubeconfig{Context: "production"}, "production", "https://production.example:6443"},
		"a file by its path":   {Kubeconfig{Path: path, Context: "production"}, "production", "https://production.example:6443"},
		"impersonating a user": {Kubeconfig{As: "jane"}, "staging", "https://staging.example:6443"},
	} {
		t.Run(situation, func(t *testing.T) {
			config, name, err := c.flags.Load()
			if err != nil {
				t.Fatal(err)
			}
			if name != c.name || config.Host != c.host || config.Impersonate.UserName != c.flags.As {
				t.Errorf("Load() = %s as %q, %q", config.Host, config.Impersonate.UserName, name)
			}
		})
	}
	if got := (&Kubeconfig{}).Contexts(); !slices.Equal(got, []string{"production", "staging"}) {
		t.Errorf("Contexts() = %v", got)
	}
}

func TestKubeconfigsThatSelectNothing(t *testing.T) {
	for situation, c := range map[string]struct {
		text  string
		flags Kubeconfig
		want  string
	}{
		"a missing file":       {twoContexts, Kubeconfig{Path: "/nonexistent/config"}, "kubeconfig /nonexistent/config not found"},
		"a missing context":    {twoContexts, Kubeconfig{Context: "prod"}, `no context "prod"; it has production, staging`},
		"an invalid file":      {"clusters: [", Kubeconfig{}, "cannot read the kubeconfig"},
		"an empty file":        {"", Kubeconfig{}, "use --kubeconfig or KUBECONFIG"},
		"a context of nowhere": {"apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: gone}}]\n", Kubeconfig{}, "kubeconfig"},
	} {
		t.Run(situation, func(t *testing.T) {
			kubeconfig(t, c.text)
			if config, _, err := c.flags.Load(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Load() = %v, %v, want %q", config, err, c.want)
			}
		})
	}
}

func TestMissingFilesOfKUBECONFIG(t *testing.T) {
	existing := kubeconfig(t, "")
	for value, want := range map[string]string{
		"/nope":             "kubeconfig /nope, named by KUBECONFIG, not found",
		"/nope:/neither":    "kubeconfig /nope:/neither, named by KUBECONFIG, not found",
		"/nope:" + existing: "no cluster is configured: use --kubeconfig or KUBECONFIG",
	} {
		t.Setenv("KUBERNETES_SERVICE_HOST", "")
		t.Setenv("KUBECONFIG", value)
		if _, _, err := (&Kubeconfig{}).Load(); err == nil || err.Error() != want {
			t.Errorf("%s: got %v", value, err)
		}
	}
}

func TestReach(t *testing.T) {
	for situation, c := range map[string]struct {
		status        int
		version, want string
	}{
		"an API server":                      {http.StatusOK, "v1.35.4", ""},
		"one that forbids to read a version": {http.StatusForbidden, "", ""},
		"one that rejects the credentials":   {http.StatusUnauthorized, "", "rejects your credentials. Log in again"},
		"one that fails":                     {http.StatusInternalServerError, "", "cannot reach the API server"},
	} {
		t.Run(situation, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(`{"gitVersion": "v1.35.4"}`))
			}))
			defer server.Close()
			version, err := Reach(t.Context(), &rest.Config{Host: server.URL})
			switch {
			case version != c.version, c.want == "" && err != nil:
				t.Errorf("Reach() = %q, %v", version, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("Reach() = %v, want %q", err, c.want)
			}
		})
	}
}

func TestReachOfAServerThatIsDownNamesTheServerAndTheCause(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := Reach(t.Context(), &rest.Config{Host: server.URL})
	if err == nil || !strings.Contains(err.Error(), server.URL+": dial tcp") || strings.Contains(err.Error(), "/version") {
		t.Errorf("Reach() = %v", err)
	}
}

func TestOnlyAServerThatIsDownIsUnreachable(t *testing.T) {
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	respond := func(status int) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(server.Close)
		return server.URL
	}
	for situation, c := range map[string]struct {
		host string
		want bool
	}{
		"down":                    {down.URL, true},
		"starting":                {respond(http.StatusServiceUnavailable), true},
		"rejects the credentials": {respond(http.StatusUnauthorized), false},
		"not an API server":       {respond(http.StatusNotFound), false},
		"an unknown certificate":  {secure.URL, false},
	} {
		t.Run(situation, func(t *testing.T) {
			if _, err := Reach(t.Context(), &rest.Config{Host: c.host}); err == nil || Unreachable(err) != c.want {
				t.Errorf("Unreachable(%v) = %v", err, !c.want)
			}
		})
	}
}

// silent is a server that accepts requests and never responds.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestReachOfAServerThatDoesNotRespondIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := Reach(t.Context(), &rest.Config{Host: "https://silent.example", Transport: silent{}})
		if _, is := errors.AsType[exit.TimeoutError](err); !is || !strings.Contains(err.Error(), "did not respond within 10s") {
			t.Errorf("Reach() = %v, want a TimeoutError", err)
		}
		if !Unreachable(err) {
			t.Errorf("%v is not unreachable", err)
		}
		if took := time.Since(start); took != reachTimeout {
			t.Errorf("it took %s, want %s", took, reachTimeout)
		}
	})
}
