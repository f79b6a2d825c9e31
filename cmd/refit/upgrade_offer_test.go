package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/installation"
	"github.com/refit-dev/refit/internal/cli/terminal/terminaltest"
	"github.com/refit-dev/refit/internal/engine/install"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

// published publishes every binary and image that is asked for, and v1.36.3 as the newest of v1.36.
// It returns its address, and the digests of v1.36.3: it has no signatures.
func published(t *testing.T) (address string, digests []string) {
	t.Helper()
	config := func(arch string) string { return `{"os":"linux","architecture":"` + arch + `"}` }
	digest := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	manifest := fmt.Sprintf(`{"config":{"digest":"sha256:%s"}}`, digest(config("amd64")))
	digests = append(digests, "sha256:"+digest(manifest))
	for _, name := range []string{"kubeadm", "kubelet", "kubectl"} {
		digests = append(digests, "sha256:"+digest("/release/v1.36.3/bin/linux/amd64/"+name))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case path == "/release/stable-1.36.txt":
			fmt.Fprintln(w, "v1.36.3")
		case strings.HasSuffix(path, ".sha256"):
			fmt.Fprintln(w, digest(strings.TrimSuffix(path, ".sha256")))
		case strings.Contains(path, "/manifests/"):
			fmt.Fprint(w, manifest)
		case strings.Contains(path, "/blobs/"):
			fmt.Fprint(w, config("amd64"))
		case strings.HasPrefix(path, "/release/"):
			w.Header().Set("Content-Length", fmt.Sprint(len(path)))
			fmt.Fprint(w, path)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, digests
}

// withoutRelease is a site whose cluster lacks a ClusterRelease until one is added, with hosts that
// accept the user's own key, on a terminal with this input.
func withoutRelease(t *testing.T, input string) *site {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	s := newSite(t)
	s.succeeds(t)
	if code := s.run(t, "release", "key", "create"); code != 0 {
		t.Fatalf("exit code %d: %s", code, s.err)
	}
	address, digests := published(t)
	mirrors := fmt.Sprintf("downloads: %s/release\nimageRepository: %s/images\nacceptDigests: [%s]\n", address, address, strings.Join(digests, ", "))
	if err := os.WriteFile(filepath.Join(dir, "refit", "upstream.yaml"), []byte(mirrors), 0o600); err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(filepath.Join(dir, "refit", "refit-release.pem"))
	if err != nil {
		t.Fatal(err)
	}
	s.installer = func(*rest.Config) (installation.Cluster, error) {
		return &fakeCluster{existing: install.Existing{Keys: map[string]string{"own.pem": string(public)}}}, nil
	}
	s.observe = func(ctx context.Context, _ *rest.Config, _ func(string)) (*cluster.Snapshot, error) {
		var added refitv1alpha1.ClusterReleaseList
		if err := s.List(ctx, &added); err != nil || len(added.Items) > 0 {
			return shop(), err
		}
		return clustertest.HA("v1.35.4", 3, 2, clustertest.Agents(), func(s *cluster.Snapshot) {
			for i := range s.Nodes {
				s.Nodes[i].Report.PackageKind, s.Nodes[i].Report.Arch = refitv1alpha1.PackageBinary, "amd64"
			}
		}), nil
	}
	keys, in := terminaltest.Open(t)
	s.In = in
	if _, err := keys.WriteString(input); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestUpgradeOffersToAddTheClusterRelease(t *testing.T) {
	for _, to := range []string{"v1.36", "v1.36.3"} {
		t.Run(to, func(t *testing.T) {
			s := withoutRelease(t, "yes\nyes\nyes\n") // create, sign, upgrade
			if code := s.refit(t, "upgrade", "--to", to); code != 0 {
				t.Fatalf("exit code %d: %s\n%s", code, s.err, s.out)
			}
			for _, want := range []string{
				"prod has no ClusterRelease of " + to + ". Create it from upstream, for the hosts of this cluster?",
				"Sign this content with the key ",
				"Added ClusterRelease kubernetes-v1.36.3 to prod",
				"Upgrade prod to v1.36.3 with this plan?",
			} {
				if !strings.Contains(s.err.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, s.err)
				}
			}
			var release refitv1alpha1.ClusterRelease
			if err := s.Get(t.Context(), client.ObjectKey{Name: "kubernetes-v1.36.3"}, &release); err != nil || len(s.all(t)) != 1 {
				t.Errorf("%v, operations %v", err, s.all(t))
			}
		})
	}
}

// A user who declines the plan after the ClusterRelease was added reads that it remains.
func TestUpgradeDeclinedAfterTheClusterRelease(t *testing.T) {
	s := withoutRelease(t, "yes\nyes\nno\n") // create, sign, do not upgrade
	if code := s.refit(t, "upgrade", "--to", "v1.36"); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if said := s.err.String(); !strings.Contains(said, "not confirmed; completed changes remain") || strings.Contains(said, "nothing was changed") {
		t.Error(said)
	}
	if len(s.all(t)) != 0 {
		t.Errorf("it started %v", s.all(t))
	}
}

func TestUpgradeAddsNoClusterReleaseUnasked(t *testing.T) {
	for situation, c := range map[string]struct {
		input  string
		args   []string
		change func(*site)
		code   int
		says   string
	}{
		"declined":                  {"no\n", nil, nil, 1, "not confirmed: nothing was changed"},
		"not signed":                {"yes\nno\n", nil, nil, 1, "not confirmed: nothing was changed"},
		"with --yes":                {"", []string{"--yes"}, nil, 2, "has no ClusterRelease of v1.36: use a version such as"},
		"in a pipeline":             {"", []string{"--yes", "-o", "json"}, nil, 2, "has no ClusterRelease of v1.36: use a version such as"},
		"hosts accept another key":  {"", nil, func(s *site) { s.installer = accepts(t) }, 2, "has no ClusterRelease of v1.36: use a version such as"},
		"Refit is not installed":    {"", nil, func(s *site) { s.installer = accepts(t, nil) }, 2, "has no ClusterRelease of v1.36: use a version such as"},
		"a wrong flag":              {"yes\nyes\n", []string{"--log", "x"}, nil, 2, "--log requires --standalone"},
		"an unsupported version":    {"yes\nyes\n", []string{"--to", "v1.38.0"}, nil, 2, "this version of Refit supports Kubernetes"},
		"two versions, declined":    {"no\n", []string{"--to", "v1.37.1"}, nil, 1, " and v1.37.1. Create them from upstream, for the hosts of this cluster?"},
		"a host without an agent":   {"", nil, withoutAgent, 2, "has no ClusterRelease of v1.36: use a version such as"},
		"upstream has no proof":     {"yes\n", nil, func(*site) { unaccepted(t) }, 1, "cannot prove http"},
		"upstream is not reachable": {"yes\n", nil, func(*site) { unreachable(t) }, 1, "cannot find the newest patch release of v1.36"},
	} {
		t.Run(situation, func(t *testing.T) {
			s := withoutRelease(t, c.input)
			if c.change != nil {
				c.change(s)
			}
			if code := s.refit(t, append([]string{"upgrade", "--to", "v1.36"}, c.args...)...); code != c.code || !strings.Contains(s.err.String(), c.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, c.code, c.says, s.err)
			}
			var added refitv1alpha1.ClusterReleaseList
			if err := s.List(t.Context(), &added); err != nil || len(added.Items)+len(s.all(t)) != 0 {
				t.Errorf("%v, it added %d ClusterReleases and started %v", err, len(added.Items), s.all(t))
			}
		})
	}
}

// withoutAgent removes what the agent of a host reports.
func withoutAgent(s *site) {
	observe := s.observe
	s.observe = func(ctx context.Context, config *rest.Config, part func(string)) (*cluster.Snapshot, error) {
		observed, err := observe(ctx, config, part)
		if err == nil {
			observed.Nodes[0].Report = nil
		}
		return observed, err
	}
}

// An API server that restarts serves one object, but not always all that a plan is based on.
func TestUpgradeIsFollowedAlthoughTheClusterCannotBeRead(t *testing.T) {
	s := newSite(t)
	s.operation(t, "to-1-36-3")
	s.observe = func(context.Context, *rest.Config, func(string)) (*cluster.Snapshot, error) {
		return nil, errors.New("the cluster cannot be read")
	}
	_, s.In = terminaltest.Open(t)
	if code := s.refit(t, "upgrade", "--to", "v1.36.3", "--timeout", "1s"); code != 4 || !strings.Contains(s.err.String(), "is in progress since") {
		t.Errorf("exit code %d: %s", code, s.err)
	}
}

// accepts returns an installation whose hosts accept a key that is not the user's, or none.
func accepts(t *testing.T, keys ...map[string]string) func(*rest.Config) (installation.Cluster, error) {
	t.Helper()
	existing := install.Existing{}
	if len(keys) == 0 {
		_, file := newKey(t)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		existing.Keys = map[string]string{"other.pem": string(text)}
	}
	return func(*rest.Config) (installation.Cluster, error) { return &fakeCluster{existing: existing}, nil }
}

func unreachable(t *testing.T) {
	t.Helper()
	file := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "refit", "upstream.yaml")
	if err := os.WriteFile(file, []byte("downloads: http://127.0.0.1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// unaccepted removes the digests that the user accepts.
func unaccepted(t *testing.T) {
	t.Helper()
	file := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "refit", "upstream.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mirrors, _, _ := strings.Cut(string(text), "acceptDigests")
	if err := os.WriteFile(file, []byte(mirrors), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestMirrorsThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	if err := os.MkdirAll(filepath.Join(dir, "refit"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "refit", "upstream.yaml"), []byte("mirror: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := newLine(t)
	if code := l.run(t, "release", "create", "--kubernetes", "v1.36.3", "--online"); code != 2 || !strings.Contains(l.err.String(), "upstream.yaml") {
		t.Errorf("exit code %d: %s", code, l.err)
	}
}
