package source

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/cli/connect"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

// now is some months after the Snapshots were taken.
var now = clustertest.Now.AddDate(0, 9, 0)

// reading records the parts that were read.
type reading struct {
	parts []string
	ended bool
}

func (r *reading) Part(part string) { r.parts = append(r.parts, part) }
func (r *reading) Last() string     { return r.parts[len(r.parts)-1] }
func (r *reading) End()             { r.ended = true }

func newReader(r *reading, observe func(context.Context, *rest.Config, func(string)) (*cluster.Snapshot, error)) *Reader {
	return &Reader{
		Command: "refit", Now: func() time.Time { return now }, ReadFile: os.ReadFile, Observe: observe, Reading: func(string, bool) Reading { return r },
	}
}

// saved writes a Snapshot, or the text if it is not empty.
func saved(t *testing.T, s *cluster.Snapshot, text string) string {
	t.Helper()
	var out bytes.Buffer
	if err := cluster.Encode(&out, s); err != nil {
		t.Fatal(err)
	}
	if text != "" {
		out.Reset()
		out.WriteString(text)
	}
	path := filepath.Join(t.TempDir(), "snapshot.json")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func named(name, address string) clustertest.Change {
	return func(s *cluster.Snapshot) { s.Kubeadm.ClusterName, s.Endpoint.Address = name, address }
}

func TestASavedSnapshotIsNamedAfterItsCluster(t *testing.T) {
	for situation, c := range map[string]struct{ name, address, want string }{
		"a name of its own":  {"prod", "10.0.0.1:6443", "prod"},
		"kubeadm's default":  {"kubernetes", "10.0.0.1:6443", "10.0.0.1:6443"},
		"no name":            {"", "10.0.0.1:6443", "10.0.0.1:6443"},
		"nothing but a file": {"", "", "snapshot.json"},
	} {
		t.Run(situation, func(t *testing.T) {
			path := saved(t, clustertest.Single("v1.35.4", named(c.name, c.address)), "")
			got, err := newReader(nil, nil).Read(t.Context(), &Source{File: path, Timeout: DefaultTimeout})
			if err != nil || got.Cluster != c.want || got.Saved != "snapshot.json" || len(got.Snapshot.Nodes) != 1 {
				t.Errorf("Read() = %+v, %v, want the name %q", got, err, c.want)
			}
		})
	}
}

func taken(at time.Time) *cluster.Snapshot {
	return clustertest.Single("v1.35.4", func(s *cluster.Snapshot) { s.TakenAt = at })
}

func TestASnapshotIsAssessedAtTheTimeItWasTaken(t *testing.T) {
	ahead := now.Add(time.Minute) // the clock of another machine
	for situation, takenAt := range map[string]time.Time{"an old one": clustertest.Now, "by a clock that is ahead": ahead} {
		t.Run(situation, func(t *testing.T) {
			got, err := newReader(nil, nil).Read(t.Context(), &Source{File: saved(t, taken(takenAt), ""), Timeout: DefaultTimeout})
			if err != nil || !got.At.Equal(takenAt) {
				t.Errorf("Read() = %+v, %v, want the time %s", got, err, takenAt)
			}
		})
	}
}

func TestSnapshotsThatCannotBeUsed(t *testing.T) {
	empty := clustertest.Single("v1.35.4", func(s *cluster.Snapshot) { s.Nodes = nil; s.Workloads = nil })
	for situation, c := range map[string]struct {
		path, want string
	}{
		"a missing file":  {filepath.Join(t.TempDir(), "none.json"), "cannot read the saved Snapshot"},
		"another file":    {saved(t, empty, `{"kind":"Pod"}`), "`refit snapshot` writes one"},
		"without nodes":   {saved(t, empty, ""), "has no nodes"},
		"without a time":  {saved(t, taken(time.Time{}), ""), "has no takenAt"},
		"of the future":   {saved(t, taken(now.AddDate(5, 0, 0)), ""), "was taken in the future"},
		"a newer version": {saved(t, empty, `{"apiVersion":"snapshot.refit.dev/v9","kind":"Snapshot"}`), "take the Snapshot again"},
	} {
		t.Run(situation, func(t *testing.T) {
			got, err := newReader(nil, nil).Read(t.Context(), &Source{File: c.path, Timeout: DefaultTimeout})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Read() = %+v, %v, want %q", got, err, c.want)
			}
		})
	}
}

// apiServer starts a server that reports a version, and returns a kubeconfig for it.
func apiServer(t *testing.T) connect.Kubeconfig {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"gitVersion": "v1.35.4"}`))
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "config")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: prod\ncontexts: [{name: prod, context: {cluster: c}}]\n" +
		"clusters: [{name: c, cluster: {server: \"" + server.URL + "\"}}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return connect.Kubeconfig{Path: path}
}

func TestAClusterIsNamedAfterItsContextAndItsReadingEnds(t *testing.T) {
	progress := &reading{}
	reader := newReader(progress, func(_ context.Context, _ *rest.Config, part func(string)) (*cluster.Snapshot, error) {
		part("pods")
		return clustertest.Single("v1.35.4"), nil
	})
	got, err := reader.Read(t.Context(), &Source{Kubeconfig: apiServer(t), Timeout: time.Minute})
	if err != nil || got.Cluster != "prod" || got.Saved != "" || !got.At.Equal(now) {
		t.Fatalf("Read() = %+v, %v", got, err)
	}
	if !progress.ended || progress.Last() != "pods" {
		t.Errorf("progress is %+v", progress)
	}
}

func TestAClusterThatCannotBeRead(t *testing.T) {
	for situation, c := range map[string]struct {
		timeout time.Duration
		err     error
		want    string
		code    int
	}{
		"an error":       {time.Minute, errors.New("nodes is forbidden"), "cannot read prod: nodes is forbidden", exit.Failed},
		"no time at all": {0, nil, "--timeout", exit.Usage},
	} {
		t.Run(situation, func(t *testing.T) {
			reader := newReader(&reading{}, func(context.Context, *rest.Config, func(string)) (*cluster.Snapshot, error) { return nil, c.err })
			_, err := reader.Read(t.Context(), &Source{Kubeconfig: apiServer(t), Timeout: c.timeout})
			if err == nil || !strings.Contains(err.Error(), c.want) || exit.Code(t.Context(), err) != c.code {
				t.Errorf("Read() = %v, want %q and exit code %d", err, c.want, c.code)
			}
		})
	}
}

// expiring is a context whose deadline passes when the test decides.
type expiring struct {
	context.Context //nolint:containedctx // it is one

	expired chan struct{}
}

func (e expiring) Done() <-chan struct{} { return e.expired }

func (e expiring) Err() error {
	select {
	case <-e.expired:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestATimeoutNamesThePartThatWasBeingRead(t *testing.T) {
	limited, progress := expiring{t.Context(), make(chan struct{})}, &reading{}
	reader := newReader(progress, func(ctx context.Context, _ *rest.Config, part func(string)) (*cluster.Snapshot, error) {
		part("webhooks")
		close(limited.expired)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	_, err := reader.Read(limited, &Source{Kubeconfig: apiServer(t), Timeout: time.Hour})
	if err == nil || !strings.Contains(err.Error(), "last part: webhooks") || exit.Code(t.Context(), err) != exit.NotYet {
		t.Errorf("Read() = %v, want the part and exit code %d", err, exit.NotYet)
	}
	if !progress.ended {
		t.Error("the reading did not end")
	}
}

func TestGlanceReadsOnlyWhatIsCheap(t *testing.T) {
	reader := newReader(&reading{}, func(context.Context, *rest.Config, func(string)) (*cluster.Snapshot, error) {
		t.Error("the whole cluster was read")
		return nil, nil
	})
	file := saved(t, clustertest.Single("v1.35.4", clustertest.Released("v1.36.3", "v1.37.1")), "")
	for situation, c := range map[string]struct {
		source   Source
		version  string
		releases int
	}{
		"a saved Snapshot":     {Source{File: file}, "v1.35.4", 2},
		"a cluster":            {Source{Kubeconfig: apiServer(t)}, "v1.35.4", 0},
		"a missing file":       {Source{File: file + ".missing"}, "", 0},
		"a missing kubeconfig": {Source{Kubeconfig: connect.Kubeconfig{Path: "/nonexistent/config"}}, "", 0},
	} {
		version, releases := reader.Glance(t.Context(), &c.source)
		if version != c.version || len(releases) != c.releases || slices.Contains(releases, "") {
			t.Errorf("%s: Glance() = %q, %v", situation, version, releases)
		}
	}
}
