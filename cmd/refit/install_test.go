package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/cli/installation"
	"github.com/refit-dev/refit/internal/cli/release"
	"github.com/refit-dev/refit/internal/engine/backup/seal"
	"github.com/refit-dev/refit/internal/engine/install"
)

// fakeCluster returns configured results and records its calls.
type fakeCluster struct {
	existing install.Existing
	changes  []install.Change
	nodes    []install.NodeProgress
	// controller is nil where none is installed.
	controller, components *install.ControllerProgress
	survey                 install.Survey
	err                    error // of Apply, Follow or Remove
	hang                   bool  // until the context ends

	asked      []string
	added      []install.Change // by AddBackups
	recipients []string
	objects    []*unstructured.Unstructured
	options    install.Options
}

func (f *fakeCluster) say(format string, args ...any) {
	f.asked = append(f.asked, fmt.Sprintf(format, args...))
}

func (f *fakeCluster) Existing(context.Context) (install.Existing, error) { return f.existing, nil }

func (f *fakeCluster) CheckIdle(context.Context) error {
	if errors.Is(f.err, install.ErrBusy) {
		return f.err
	}
	return nil
}

func (f *fakeCluster) PinnedKeys(context.Context) (map[string]string, error) {
	return f.existing.Keys, nil
}

func (f *fakeCluster) Apply(_ context.Context, objects []*unstructured.Unstructured, version string, dryRun bool, _ install.Callbacks) ([]install.Change, error) {
	f.say("apply %s, dry run %v", version, dryRun)
	f.objects = objects
	if f.err != nil && !errors.Is(f.err, install.ErrNotDone) {
		return nil, f.err
	}
	return f.changes, nil
}

func (f *fakeCluster) AddBackups(_ context.Context, recipients []string) ([]install.Change, error) {
	f.recipients = append(f.recipients, recipients...)
	return f.added, nil
}

func (f *fakeCluster) Follow(ctx context.Context, _ []*unstructured.Unstructured, callbacks install.Callbacks) (install.Progress, error) {
	f.say("follow")
	for i, n := range f.nodes {
		callbacks.Node(n, i+1, len(f.nodes))
	}
	if f.hang {
		<-ctx.Done()
		return install.Progress{}, ctx.Err()
	}
	return install.Progress{Nodes: f.nodes, Controller: f.controller, Components: f.components}, f.err
}

func (f *fakeCluster) Survey(context.Context, install.Options) (install.Survey, error) {
	return f.survey, nil
}

func (f *fakeCluster) Remove(_ context.Context, o install.Options, callbacks install.Callbacks) (install.Removal, error) {
	f.say("remove")
	f.options = o
	callbacks.Step("removing the agents from the hosts")
	for i, n := range f.nodes {
		callbacks.Node(n, i+1, len(f.nodes))
	}
	return install.Removal{Changes: f.survey.Objects, Uncordoned: f.survey.Cordoned, Nodes: f.nodes}, f.err
}

// withCluster is a command line with a fake cluster.
func withCluster(t *testing.T, f *fakeCluster) (l *line, kubeconfig string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"gitVersion":"v1.35.4"}`) }))
	t.Cleanup(server.Close)
	l = newLine(t)
	l.installer = func(*rest.Config) (installation.Cluster, error) { return f, nil }
	return l, kubeconfigFor(t, server.URL)
}

var (
	namespace = install.Ref{APIVersion: "v1", Kind: "Namespace", Resource: "namespaces", Name: "refit-agent"}
	agents    = install.Ref{APIVersion: "apps/v1", Kind: "DaemonSet", Resource: "daemonsets", Namespace: "refit-agent", Name: "refit-agent"}
)

func TestInstallReportsTheProgressOfEachNode(t *testing.T) {
	_, public := newKey(t)
	f := &fakeCluster{
		changes: []install.Change{{Ref: namespace, Action: install.Created}, {Ref: agents, Action: install.Created}},
		nodes:   []install.NodeProgress{{Node: "cp-1", State: install.Done}, {Node: "worker-1\x1b[2J", State: install.Failing, Why: "ImagePullBackOff: not found"}},
	}
	l, config := withCluster(t, f)
	if code := l.run(t, "install", "--kubeconfig", config, "--release-key", public, "--source", "/srv/refit", "--standalone"); code != 0 {
		t.Fatalf("exit code %d: %s", code, l.err)
	}
	if strings.Join(f.asked, "; ") != "apply development, dry run false; follow" {
		t.Errorf("%v", f.asked)
	}
	for _, want := range []string{"Applying ", "  cp-1: installed (1 of 2)\n", ": failing: ImagePullBackOff: not found\n"} {
		if !strings.Contains(l.err.String(), want) {
			t.Errorf("while it waits it does not say %q: %s", want, l.err)
		}
	}
	if strings.Contains(l.err.String()+l.out.String(), "\x1b") {
		t.Error("it shows what nobody should see")
	}
	for _, object := range f.objects {
		if object.GetKind() == "Deployment" {
			t.Error("a standalone install has no controller")
		}
		if object.GetKind() == "ConfigMap" {
			data, _, _ := unstructured.NestedStringMap(object.Object, "data")
			if data["agent.yaml"] != "sources:\n- /srv/refit\n" || !strings.Contains(data["stores.yaml"], f.recipients[0]) || len(data) != 3 {
				t.Errorf("%v", data)
			}
		}
	}
}

// Options that are not given keep their values in the cluster.
func TestInstallKeepsOptionsThatAreNotSet(t *testing.T) {
	_, public := newKey(t)
	_, other := newKey(t)
	mine, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeCluster{existing: install.Existing{
		Version: "v0.1.0", Repository: "registry.example/refit", Keys: map[string]string{"mine.pem": string(mine)}, Settings: "reservedDiskMiB: 128\nsources: [/srv/old]\n",
	}}
	for name, c := range map[string]struct {
		args                []string
		key, image, setting string
	}{
		"nothing given":      {nil, "mine.pem", "registry.example/refit/refit-agent:development", "sources: [/srv/old]"},
		"another key":        {[]string{"--release-key", public}, "-mine.pem", "registry.example/refit/refit-agent:development", "sources: [/srv/old]"},
		"another source":     {[]string{"--source", "https://mirror.example/refit"}, "mine.pem", "", "reservedDiskMiB: 128\nsources:\n- https://mirror.example/refit\n"},
		"another repository": {[]string{"--image-repository", "other.example:5000/x"}, "mine.pem", "other.example:5000/x/refit-agent:development", ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, config := withCluster(t, f)
			if code := l.run(t, append([]string{"install", "--kubeconfig", config, "--dry-run"}, c.args...)...); code != 0 {
				t.Fatalf("exit code %d: %s", code, l.err)
			}
			if f.asked[len(f.asked)-1] != "apply development, dry run true" {
				t.Errorf("%v", f.asked)
			}
			for _, object := range f.objects {
				switch object.GetKind() {
				case "ConfigMap":
					data, _, _ := unstructured.NestedStringMap(object.Object, "data")
					_, has := data["mine.pem"]
					if has != (c.key == "mine.pem") || len(data) != 2 || !strings.Contains(data["agent.yaml"], c.setting) {
						t.Errorf("%v", data)
					}
				case "DaemonSet":
					containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
					if image := containers[0].(map[string]any)["image"]; c.image != "" && image != c.image {
						t.Errorf("%v", image)
					}
				}
			}
		})
	}
}

// refit-components has all permissions in the cluster: only the user installs or removes it.
func TestInstallChangesComponentsOnlyOnRequest(t *testing.T) {
	_, public := newKey(t)
	for situation, c := range map[string]struct {
		args     []string
		existing bool
		want     bool
	}{
		"not requested":                  {nil, false, false},
		"requested":                      {[]string{"--components"}, false, true},
		"without a controller":           {[]string{"--components", "--standalone"}, false, true},
		"installed, not requested":       {nil, true, true},
		"installed, and requested again": {[]string{"--components"}, true, true},
		"installed, and not wanted":      {[]string{"--components=false"}, true, false},
	} {
		f := &fakeCluster{existing: install.Existing{Components: c.existing}, components: &install.ControllerProgress{Wanted: 2, Available: 2}}
		l, config := withCluster(t, f)
		args := append([]string{"install", "--release-key", public, "--image-repository", "registry.example/refit", "--kubeconfig", config}, c.args...)
		if code := l.run(t, args...); code != 0 {
			t.Errorf("%s: exit code %d: %s", situation, code, l.err)
		}
		got := slices.ContainsFunc(f.objects, func(o *unstructured.Unstructured) bool {
			return o.GetKind() == "Deployment" && o.GetName() == "refit-components"
		})
		if got != c.want || strings.Contains(l.out.String(), "registry.example/refit/refit-components:development") != c.want {
			t.Errorf("%s: installed %v, want %v: %s", situation, got, c.want, l.out)
		}
	}
}

func TestEndsOfInstallAndUninstall(t *testing.T) {
	_, public := newKey(t)
	late := fmt.Errorf("%w: 1 of 2 nodes (%w)", install.ErrNotDone, context.DeadlineExceeded)
	busy := fmt.Errorf("the operation autumn %w", install.ErrBusy)
	there := install.Survey{Version: "v0.1.0", Objects: []install.Change{{Ref: namespace, Action: install.Removed}}, Nodes: []string{"cp-1"}, Unreachable: []string{"worker-1"}}
	failing := []install.NodeProgress{{Node: "cp-1", State: install.Done}, {Node: "worker-1", State: install.Failing, Why: "an upgrade is in progress on this host"}}
	away := []install.NodeProgress{{Node: "cp-1", State: install.Done}, {Node: "worker-1", State: install.Unreachable}}
	gone := []install.NodeProgress{{Node: "cp-1", State: install.Done}}
	for name, c := range map[string]struct {
		cluster   fakeCluster
		args      []string
		code      int
		says, out string
	}{
		"installed":                {fakeCluster{}, []string{"install", "--release-key", public}, 0, "", "kubectl get nodereports -o wide"},
		"not in time":              {fakeCluster{err: late, nodes: failing}, []string{"install", "--release-key", public}, 4, "not everything is running after 10m0s", "Pending"},
		"in an operation":          {fakeCluster{err: busy}, []string{"install", "--release-key", public}, 1, "the operation autumn is unfinished", ""},
		"no time at all":           {fakeCluster{hang: true}, []string{"install", "--release-key", public, "--timeout", "50ms"}, 4, "increase --timeout", ""},
		"nothing to remove":        {fakeCluster{}, []string{"uninstall", "--yes"}, 0, "", "Refit is not installed in prod"},
		"asked before":             {fakeCluster{survey: there}, []string{"uninstall"}, 0, "", "refit uninstall --kubeconfig"},
		"removed":                  {fakeCluster{survey: there, nodes: gone}, []string{"uninstall", "--yes"}, 0, "  cp-1: removed (1 of 1)", "removed from 1 of 1 node"},
		"hosts out of reach":       {fakeCluster{survey: there, nodes: away}, []string{"uninstall", "--yes"}, 1, "1 of 2 hosts could not be reached", "refit-agent uninstall"},
		"a host at work":           {fakeCluster{survey: there, nodes: failing, err: late}, []string{"uninstall", "--yes"}, 4, "worker-1: failing: an upgrade is in progress on this host", ""},
		"removed in an operation":  {fakeCluster{survey: there, err: busy}, []string{"uninstall", "--yes"}, 1, "autumn is unfinished", ""},
		"asked before, as JSON":    {fakeCluster{survey: there}, []string{"uninstall", "-o", "json"}, 0, "", `"done": false`},
		"dry run, as YAML":         {fakeCluster{changes: there.Objects}, []string{"install", "--release-key", public, "--dry-run", "-o", "yaml"}, 0, "", "dryRun: true"},
		"installed, as JSON":       {fakeCluster{nodes: gone}, []string{"install", "--release-key", public, "-o", "json"}, 0, "", `"state": "Done"`},
		"not in time, as JSON too": {fakeCluster{err: late, nodes: failing}, []string{"install", "--release-key", public, "-o", "json"}, 4, "not everything", `"complete": false`},
	} {
		t.Run(name, func(t *testing.T) {
			l, config := withCluster(t, &c.cluster)
			code := l.run(t, append(c.args, "--kubeconfig", config)...)
			if code != c.code || !strings.Contains(l.err.String(), c.says) || !strings.Contains(l.out.String(), c.out) {
				t.Errorf("exit code %d, want %d; stderr %q, want %q in it; stdout, want %q in it:\n%s", code, c.code, l.err, c.says, c.out, l.out)
			}
			if busy := errors.Is(c.cluster.err, install.ErrBusy); busy && c.args[0] == "install" && (strings.Contains(l.err.String(), "Applying") || len(c.cluster.asked) > 0) {
				t.Errorf("it announces a change before it refuses: %s", l.err)
			}
			if c.out == "" && l.out.Len() > 0 {
				t.Errorf("stdout is for answers, not %q", l.out)
			}
		})
	}
}

// recipient is an age public key.
const recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"

// A second install uses the identity that the first one created, which never enters the cluster.
func TestInstallCreatesOneIdentity(t *testing.T) {
	_, public := newKey(t)
	f := &fakeCluster{}
	for _, says := range []string{"New identity in " + filepath.Dir(public), "Identity in " + filepath.Dir(public)} {
		l, config := withCluster(t, f)
		if code := l.run(t, "install", "--release-key", public, "--kubeconfig", config); code != 0 || !strings.Contains(strings.Join(strings.Fields(l.out.String()), " "), says) {
			t.Errorf("exit code %d: %s%s", code, l.out, l.err)
		}
	}
	if len(f.recipients) != 2 || f.recipients[0] != f.recipients[1] {
		t.Errorf("the BackupStore got %v", f.recipients)
	}
	for _, object := range f.objects {
		if text, err := yaml.Marshal(object.Object); err != nil || strings.Contains(string(text), "AGE-SECRET") {
			t.Errorf("%s has the identity, %v", object.GetName(), err)
		}
	}
}

// Scripts read these documents.
func TestDocumentsOfInstallAndUninstall(t *testing.T) {
	key := file(t, "release.pem", "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n")
	f := &fakeCluster{
		existing: install.Existing{Version: "v0.1.0"},
		changes: []install.Change{
			{Ref: namespace, Action: install.Unchanged},
			{Ref: agents, Action: install.Changed, Fields: []string{"spec.template.spec.containers[0].image"}},
			{Ref: install.Ref{APIVersion: "example.dev/v1", Resource: "things", Name: "former"}, Action: install.Removed},
		},
		nodes: []install.NodeProgress{{Node: "cp-1", State: install.Done}, {Node: "worker-1", State: install.Unreachable, Why: "NodeStatusUnknown"}},
		survey: install.Survey{
			Version: "v0.1.0", Objects: []install.Change{{Ref: namespace, Action: install.Removed}}, Content: []install.Count{{Resource: "nodereports", Number: 2}},
			Cordoned: []string{"worker-1"}, Nodes: []string{"cp-1"}, Unreachable: []string{"worker-1"},
		},
	}
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"install.golden.json":         {[]string{"install", "--release-key", key, "--standalone", "--backup-recipient", recipient}, 0},
		"install-dry-run.golden.json": {[]string{"install", "--release-key", key, "--dry-run"}, 0},
		"uninstall-asked.golden.json": {[]string{"uninstall"}, 0},
		"uninstall.golden.json":       {[]string{"uninstall", "--yes"}, 1},
	} {
		l, config := withCluster(t, f)
		if code := l.run(t, append(c.args, "--kubeconfig", config, "-o", "json")...); code != c.code {
			t.Errorf("%s: exit code %d: %s", name, code, l.err)
		}
		golden(t, name, l.out.Bytes())
	}
}

// An interrupted install does not claim that nothing was changed.
func TestInterruptedInstall(t *testing.T) {
	_, public := newKey(t)
	ctx, interrupt := context.WithCancel(t.Context())
	f := &fakeCluster{hang: true, nodes: []install.NodeProgress{{Node: "cp-1", State: install.Pulling}}}
	l, config := withCluster(t, f)
	l.installer = func(*rest.Config) (installation.Cluster, error) { return interrupting{f, interrupt}, nil }
	code := run(ctx, l.app, []string{"install", "--release-key", public, "--kubeconfig", config})
	if code != exit.Interrupted || !strings.Contains(l.err.String(), "completed changes remain") || strings.Contains(l.err.String(), "nothing was changed") {
		t.Errorf("exit code %d: %s", code, l.err)
	}
}

type interrupting struct {
	*fakeCluster
	now context.CancelFunc
}

func (i interrupting) Follow(ctx context.Context, o []*unstructured.Unstructured, callbacks install.Callbacks) (install.Progress, error) {
	i.now()
	return i.fakeCluster.Follow(ctx, o, callbacks)
}

func TestWrongInputOfInstall(t *testing.T) {
	private, public := newKey(t)
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no key to compare with":     {[]string{"install", "--dry-run"}, 2, "Pass the public key with --release-key"},
		"no key to render":           {[]string{"install", "--render"}, 2, "Pass the public key with --release-key"},
		"a private key":              {[]string{"install", "--release-key", private}, 1, "this is a private key"},
		"a key that is not there":    {[]string{"install", "--release-key", "/does/not/exist"}, 1, "no such file"},
		"an unknown source":          {[]string{"install", "--release-key", public, "--source", "ftp://x"}, 2, "is not a source"},
		"a source that nobody sees":  {[]string{"install", "--release-key", public, "--source", "/home/me/refit"}, 2, "cannot read files below /home"},
		"a repository that is none":  {[]string{"install", "--release-key", public, "--image-repository", "https://x/"}, 2, "is not a repository"},
		"rendered as JSON":           {[]string{"install", "--release-key", public, "--render", "-o", "json"}, 2, "--render prints YAML only: omit -o json"},
		"rendered and tried at once": {[]string{"install", "--release-key", public, "--render", "--dry-run"}, 2, "exclude each other"},
		"no time":                    {[]string{"install", "--release-key", public, "--timeout", "0s"}, 2, "not a positive duration"},
		"a recipient that is none":   {[]string{"install", "--release-key", public, "--backup-recipient", "age1x"}, 2, "--backup-recipient"},
		"two keys for backups":       {[]string{"install", "--release-key", public, "--backup-recipient", recipient, "--backup-key", "x"}, 2, "exclude each other"},
		"an argument":                {[]string{"install", "prod"}, 2, "unexpected argument"},
		"by force":                   {[]string{"install", "--force"}, 2, "unknown flag: --force"},
		"uninstall by force":         {[]string{"uninstall", "--force"}, 2, "unknown flag: --force"},
		"uninstall, no time":         {[]string{"uninstall", "--yes", "--timeout", "0s"}, 2, "not a positive duration"},
		"uninstall, unknown output":  {[]string{"uninstall", "-o", "xml"}, 2, "none of text, json, yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeCluster{}
			l, config := withCluster(t, f)
			if code := l.run(t, append(c.args, "--kubeconfig", config)...); code != c.code || !strings.Contains(l.err.String(), c.says) {
				t.Errorf("exit code %d and %q, want %d and %q", code, l.err, c.code, c.says)
			}
			if l.out.Len() > 0 || len(f.asked) > 0 {
				t.Errorf("it did %v and says %q", f.asked, l.out)
			}
		})
	}
}

// The first command of a new user needs no key: it creates one, and the next one uses it.
func TestInstallWithoutAKeyPinsTheUsersOwn(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	private := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "refit", release.KeyName)
	secret := filepath.Join(t.TempDir(), "passphrase")
	if err := os.WriteFile(secret, []byte("correct horse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, config := withCluster(t, &fakeCluster{})
	if code := l.run(t, "install", "--kubeconfig", config); code != 2 || !strings.Contains(l.err.String(), "refit release key create") {
		t.Errorf("without a terminal: exit code %d: %s", code, l.err)
	}
	for _, says := range []string{"New key in", ""} {
		l, config := withCluster(t, &fakeCluster{})
		if code := l.run(t, "install", "--source", "/srv/refit", "--passphrase-file", secret, "--kubeconfig", config); code != 0 || !strings.Contains(l.out.String(), says) ||
			says == "" && strings.Contains(l.out.String(), "New key") {
			t.Errorf("exit code %d: %s%s", code, l.out, l.err)
		}
	}
	if _, err := os.Stat(release.PublicKeyOf(private)); err != nil {
		t.Error(err)
	}
}

// Keys that are pinned stay: another user's own key must not replace them.
func TestInstallWithPinnedKeysCreatesNone(t *testing.T) {
	_, public := newKey(t)
	text, err := os.ReadFile(public)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	f := &fakeCluster{}
	f.existing.Keys = map[string]string{"theirs.pem": string(text)}
	l, config := withCluster(t, f)
	if code := l.run(t, "install", "--kubeconfig", config); code != 0 {
		t.Errorf("exit code %d: %s", code, l.err)
	}
	if entries, _ := os.ReadDir(os.Getenv("XDG_CONFIG_HOME")); len(entries) > 0 {
		t.Errorf("it created %v", entries)
	}
}

// Without a source, hosts find only files whose address is in the ClusterRelease.
func TestInstallWithoutASourceWarns(t *testing.T) {
	_, public := newKey(t)
	for _, c := range []struct {
		args     []string
		existing string
		warns    bool
	}{
		{[]string{"--render"}, "", true},
		{[]string{"--render", "--source", "/srv/refit"}, "", false},
		{[]string{"--dry-run"}, "", true},
		{[]string{"--dry-run"}, "reservedDiskMiB: 128\n", true},
		{[]string{"--dry-run"}, "sources: [/srv/refit]\n", false},
	} {
		l, config := withCluster(t, &fakeCluster{existing: install.Existing{Settings: c.existing}})
		code := l.run(t, append([]string{"install", "--release-key", public, "--kubeconfig", config}, c.args...)...)
		if code != 0 || strings.Contains(l.err.String(), "Note: without --source, ") != c.warns {
			t.Errorf("%v with %q: exit code %d: %s", c.args, c.existing, code, l.err)
		}
	}
}

// The rendered manifests are the installed ones, one document each, and need no cluster.
func TestRenderedManifestsCanBeApplied(t *testing.T) {
	_, public := newKey(t)
	l := newLine(t)
	if code := l.run(t, "install", "--render", "--release-key", public, "--image-repository", "registry.example/refit"); code != 0 {
		t.Fatalf("exit code %d: %s", code, l.err)
	}
	kinds := map[string]int{}
	for document := range strings.SplitSeq(strings.TrimPrefix(l.out.String(), "---\n"), "\n---\n") {
		var object unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Fatalf("%v\n%s", err, document)
		}
		if object.GetLabels()["app.kubernetes.io/managed-by"] != "refit-install" {
			t.Errorf("%s %s has no mark", object.GetKind(), object.GetName())
		}
		kinds[object.GetKind()]++
	}
	if kinds["CustomResourceDefinition"] != 10 || kinds["DaemonSet"] != 1 || kinds["Deployment"] != 1 || kinds["Namespace"] != 4 {
		t.Errorf("%v", kinds)
	}
	for _, image := range []string{"image: registry.example/refit/refit-agent:development\n", "image: registry.example/refit/refit-controller:development\n"} {
		if !strings.Contains(l.out.String(), image) {
			t.Errorf("there is no %q", image)
		}
	}
}

// The manifests of --render, which `make install-yaml` writes to a file, are what the command
// applies. tools/chart compares these with the Helm chart.
func TestRenderedManifestsAreWhatInstallApplies(t *testing.T) {
	_, public := newKey(t)
	_, recipient, err := seal.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{
		"install", "--release-key", public, "--source", "/srv/refit", "--image-repository", "registry.example/refit", "--image-pull-secret", "mirror",
		"--toleration", "dedicated=infra:NoExecute", "--backup-recipient", recipient, "--components",
	}
	f := &fakeCluster{}
	l, config := withCluster(t, f)
	if code := l.run(t, append(args, "--kubeconfig", config)...); code != 0 {
		t.Fatalf("exit code %d: %s", code, l.err)
	}
	rendered := newLine(t)
	if code := rendered.run(t, append(args, "--render")...); code != 0 {
		t.Fatalf("exit code %d: %s", code, rendered.err)
	}
	backups, err := install.RenderBackups([]string{recipient})
	if err != nil {
		t.Fatal(err)
	}
	applied := slices.Concat(f.objects, backups)
	documents := strings.Split(strings.TrimPrefix(rendered.out.String(), "---\n"), "\n---\n")
	if len(documents) != len(applied) {
		t.Fatalf("%d documents, but %d objects", len(documents), len(applied))
	}
	for at, object := range applied {
		want, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(documents[at]); got != strings.TrimSpace(string(want)) {
			t.Errorf("%s %s differs:\n%s\n%s", object.GetKind(), object.GetName(), got, want)
		}
	}
}

// An upgrade does not start without a BackupStore. Its identity stays on the machine.
func TestRenderedManifestsHaveABackupStore(t *testing.T) {
	_, public := newKey(t)
	identity, recipient, err := seal.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup.key")
	if err := os.WriteFile(file, []byte(identity), 0o600); err != nil {
		t.Fatal(err)
	}
	render := func(args ...string) (out, warnings string) {
		t.Helper()
		l := newLine(t)
		if code := l.run(t, append([]string{"install", "--render", "--release-key", public, "--source", "/srv/refit"}, args...)...); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, l.err)
		}
		return l.out.String(), l.err.String()
	}
	out, warnings := render("--backup-recipient", recipient)
	documents := strings.Split(out, "---\n")
	var store refitv1alpha1.BackupStore
	if err := yaml.UnmarshalStrict([]byte(documents[len(documents)-1]), &store); err != nil || strings.Contains(warnings, "BackupStore") {
		t.Fatalf("%v: %s", err, warnings)
	}
	if store.Kind != "BackupStore" || store.Name != "local" || store.Spec.Path == nil || !slices.Equal(store.Spec.Recipients, []string{recipient}) {
		t.Errorf("%+v", store)
	}
	if !strings.Contains(out, "kind: Namespace\nmetadata:\n  name: refit-backup\n") {
		t.Error("the namespace of its credentials is missing")
	}
	if again, _ := render("--backup-key", file); again != out || strings.Contains(again, "AGE-SECRET-KEY") {
		t.Error("the manifests differ, or have the identity")
	}
	if out, warnings := render(); strings.Contains(out, "kind: BackupStore\nmetadata") || !strings.Contains(warnings, "no BackupStore") {
		t.Errorf("without a recipient: %s", warnings)
	}
}
