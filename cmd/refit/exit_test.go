package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/preflight"
)

// Each invalid input has its exit code and one sentence with the remedy.
func TestWrongInput(t *testing.T) {
	good := saved(t, shop())
	const manifest = "apiVersion: refit.dev/v1alpha1\nkind: ClusterUpgrade\nmetadata: {name: x}\nspec: {target: {kubernetes: v1.36.3}%s}\n"
	for name, c := range map[string]struct {
		args []string
		in   string
		code int
		says string
	}{
		"unknown command":              {[]string{"paln"}, "", 2, `unknown command "paln"; did you mean plan?`},
		"unknown flag":                 {[]string{"plan", "--too", "v1.36.3"}, "", 2, "--too"},
		"version without its flag":     {[]string{"plan", "v1.36.3"}, "", 2, `unexpected argument "v1.36.3"`},
		"no target":                    {[]string{"plan"}, "", 2, "use --to VERSION, for example --to v1."},
		"no target, a snapshot":        {[]string{"plan", "--from", good}, "", 2, "the cluster is at v1.35.4 and has the ClusterRelease kubernetes-v1.36.3\n"},
		"no target, a newer snapshot":  {[]string{"plan", "--from", saved(t, clustertest.HA("v1.36.4", 3, 2))}, "", 2, "for example --to v1.37.1, or --release NAME"},
		"help of an unknown command":   {[]string{"help", "paln"}, "", 2, `unknown command "paln"; did you mean plan?`},
		"help of an unknown verb":      {[]string{"help", "set", "pol"}, "", 2, `unknown command "pol"`},
		"scope from an unset variable": {[]string{"plan", "--to", "v1.36.3", "--scope", ""}, "", 2, "--scope is empty"},
		"selector from an unset one":   {[]string{"plan", "--to", "v1.36.3", "--node-selector", ""}, "", 2, "--node-selector is empty"},
		"a saved and a live cluster":   {[]string{"plan", "--to", "v1.36.3", "--from", good, "--context", "prod"}, "", 2, "--from and --context exclude each other"},
		"selector by inequality":       {[]string{"plan", "--to", "v1.36.3", "--node-selector", "a!=b"}, "", 2, `"a!=b" is not a list of labels such as key=value,key2=value2` + "\n"},
		"waiver of a far name":         {[]string{"plan", "--to", "v1.36.3", "--waive", "Xyzzy=x"}, "", 2, "there is no check \"Xyzzy\": `refit check --list` lists all"},
		"two targets":                  {[]string{"plan", "--to", "v1.36.3", "--release", "x"}, "", 2, "exclude each other"},
		"minor only":                   {[]string{"check", "--to", "1.37", "--from", good}, "", 2, "no ClusterRelease of v1.37: use a version such as v1.37.1, or one that it has a ClusterRelease of: v1.36.3"},
		"minor of the cluster":         {[]string{"check", "--to", "v1.35", "--from", good}, "", 2, "use a version such as v1.35.4"},
		"minor ahead of Refit":         {[]string{"check", "--to", "v1.38", "--from", good}, "", 2, "--to v1.38: cannot reach the target v1.38.0: this version of Refit supports Kubernetes"},
		"minor before the cluster":     {[]string{"check", "--to", "v1.34", "--from", good}, "", 2, "does not support a downgrade"},
		"shell in a version":           {[]string{"check", "--to", "$(reboot)"}, "", 2, "invalid version"},
		"flag as a version":            {[]string{"check", "--to", "--help"}, "", 2, "invalid version"},
		"pre-release":                  {[]string{"check", "--to", "v1.36.3-rc.1"}, "", 2, "pre-release"},
		"downgrade":                    {[]string{"check", "--from", good, "--to", "v1.34.9"}, "", 2, "does not support a downgrade to v1.34.9"},
		"release that is not there":    {[]string{"plan", "--from", good, "--release", "gone"}, "", 2, "ClusterRelease gone not found; the cluster has kubernetes-v1.36.3\n"},
		"unknown scope":                {[]string{"plan", "--to", "v1.36.3", "--scope", "Everything"}, "", 2, "none of All, ControlPlane, Workers"},
		"unknown output":               {[]string{"plan", "--to", "v1.36.3", "-o", "xml"}, "", 2, "none of text, json, yaml, manifest"},
		"output wide":                  {[]string{"plan", "--to", "v1.36.3", "-o", "wide"}, "", 2, "--wide"},
		"bad selector":                 {[]string{"plan", "--to", "v1.36.3", "--node-selector", "a in (b)"}, "", 2, "not a list of labels"},
		"zero unavailable":             {[]string{"plan", "--to", "v1.36.3", "--max-unavailable", "0"}, "", 2, "from 1 to 10000"},
		"too much unavailable":         {[]string{"plan", "--to", "v1.36.3", "--max-unavailable", "120%"}, "", 2, "1% to 100%"},
		"waiver without reason":        {[]string{"plan", "--to", "v1.36.3", "--waive", "BudgetNeverAllows"}, "", 2, "has no reason"},
		"waiver with an empty reason":  {[]string{"plan", "--to", "v1.36.3", "--waive", "BudgetNeverAllows/Node x= "}, "", 2, "has no reason"},
		"waiver with an empty object":  {[]string{"plan", "--to", "v1.36.3", "--waive", "BudgetNeverAllows/=why"}, "", 2, "names no object"},
		"waiver of everything":         {[]string{"plan", "--to", "v1.36.3", "--waive", "*=yes"}, "", 2, "does not begin with the name of a check"},
		"waiver of an unknown check":   {[]string{"plan", "--to", "v1.36.3", "--waive", "BudgetNeverAllow=x"}, "", 2, `there is no check "BudgetNeverAllow"; did you mean BudgetNeverAllows?`},
		"waiver for no node":           {[]string{"plan", "--from", good, "--to", "v1.36.3", "--waive", "DiskTooSmall/Node nosuch=x"}, "", 2, "--waive: DiskTooSmall: node nosuch does not exist"},
		"waiver without a kind":        {[]string{"plan", "--from", good, "--to", "v1.36.3", "--waive", "DiskTooSmall/worker-1=x"}, "", 2, `--waive: "worker-1" has no kind`},
		"waiver of a PDB, no kind":     {[]string{"plan", "--to", "v1.36.3", "--waive", "BudgetNeverAllows/shop/cart=x"}, "", 2, `such as "PodDisruptionBudget shop/cart"`},
		"waiver of a pod, no kind":     {[]string{"plan", "--to", "v1.36.3", "--waive", "SingleReplica/shop/cart=x"}, "", 2, `such as "Deployment shop/cart"`},
		"version ahead of Refit":       {[]string{"plan", "--from", good, "--to", "v1.44.0"}, "", 2, "cannot reach the target v1.44.0: this version of Refit supports Kubernetes"},
		"no time":                      {[]string{"plan", "--to", "v1.36.3", "--timeout", "0s"}, "", 2, "--timeout"},
		"stdin twice":                  {[]string{"plan", "-f", "-", "--from", "-"}, "", 2, "cannot both"},
		"keep without a node":          {[]string{"keep"}, "", 2, "name one node, for example cp-1\n"},
		"shell of nobody":              {[]string{"completion", "tcsh"}, "", 2, "name one shell"},

		"manifest that is not there":  {[]string{"plan", "-f", "/does/not/exist.yaml"}, "", 1, "no such file"},
		"empty manifest":              {[]string{"plan", "-f", "-"}, "\n---\n", 2, "stdin: the file is empty"},
		"manifest of something else":  {[]string{"plan", "-f", "-"}, "apiVersion: v1\nkind: Pod\n", 2, `found kind "Pod"`},
		"manifest without fields":     {[]string{"plan", "-f", "-"}, "hello", 2, "stdin: expected a ClusterUpgrade of refit.dev/v1alpha1, found no object\n"},
		"manifest that is no YAML":    {[]string{"plan", "-f", "-"}, "a: [", 2, "stdin is neither YAML nor JSON"},
		"misspelled field":            {[]string{"plan", "-f", "-"}, fmt.Sprintf(manifest, ", scop: All"), 2, `unknown field "spec.scop"`},
		"two manifests":               {[]string{"plan", "-f", "-"}, fmt.Sprintf(manifest, "") + "---\n" + fmt.Sprintf(manifest, ""), 2, "more than one object"},
		"manifest with a wrong value": {[]string{"plan", "-f", "-"}, fmt.Sprintf(manifest, ", pools: [{name: default, drain: {onBlocked: Kill}}]"), 2, "pools[0].drain.onBlocked"},
		"manifest, pool twice":        {[]string{"plan", "-f", "-"}, fmt.Sprintf(manifest, ", pools: [{name: default}, {name: default}]"), 2, "a duplicate"},
		"manifest, no canary at all":  {[]string{"plan", "-f", "-"}, fmt.Sprintf(manifest, ", pools: [{name: default, canary: {nodes: 0}}]"), 2, "pools[0].canary.nodes"},
		"manifest, waiver bare":       {[]string{"plan", "-f", "-"}, fmt.Sprintf(manifest, ", waivers: [{check: A}]"), 2, "needs a check and a reason"},

		"snapshot that is not there": {[]string{"plan", "--to", "v1.36.3", "--from", "/does/not/exist.json"}, "", 1, "no such file"},
		"empty snapshot":             {[]string{"plan", "--to", "v1.36.3", "--from", "/dev/null"}, "", 2, "/dev/null: not a saved Snapshot: it is empty"},
		"JSON without a kind":        {[]string{"plan", "--to", "v1.36.3", "--from", "-"}, `{}`, 2, "not a saved Snapshot: it has neither apiVersion nor kind"},
		"garbage":                    {[]string{"plan", "--to", "v1.36.3", "--from", "-"}, "\x1b[2Jgarbage", 2, "not a saved Snapshot"},
		"another JSON":               {[]string{"plan", "--to", "v1.36.3", "--from", "-"}, `{"kind":"List"}`, 2, "not a saved Snapshot"},
		"newer format":               {[]string{"plan", "--to", "v1.36.3", "--from", "-"}, `{"apiVersion":"snapshot.refit.dev/v99","kind":"Snapshot"}`, 1, "newer Refit"},
		"no version is known":        {[]string{"plan", "--to", "v1.36.3", "--from", saved(t, shop(nobodyTellsVersions))}, "", 1, "the version of the control plane is unknown"},
		"no nodes":                   {[]string{"plan", "--to", "v1.36.3", "--from", saved(t, &cluster.Snapshot{TakenAt: clustertest.Now})}, "", 1, "has no nodes"},

		"no kubeconfig":             {[]string{"plan", "--to", "v1.36.3"}, "", 1, "/none, named by KUBECONFIG, not found"},
		"kubeconfig not there":      {[]string{"plan", "--to", "v1.36.3", "--kubeconfig", "/does/not/exist"}, "", 1, "kubeconfig /does/not/exist not found"},
		"kubeconfig that is none":   {[]string{"plan", "--to", "v1.36.3", "--kubeconfig", file(t, "config", "{{{")}, "", 1, "cannot read the kubeconfig"},
		"context that is not there": {[]string{"plan", "--to", "v1.36.3", "--kubeconfig", kubeconfigFor(t, "https://127.0.0.1:1"), "--context", "staging"}, "", 1, `no context "staging"; it has prod`},
		"nobody listens":            {[]string{"plan", "--to", "v1.36.3", "--kubeconfig", kubeconfigFor(t, "http://127.0.0.1:1")}, "", 1, "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			l.In = strings.NewReader(c.in)
			if code := l.run(t, c.args...); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			said := l.err.String()
			if !strings.Contains(said, c.says) {
				t.Errorf("it says %q, want %q in it", said, c.says)
			}
			lines := strings.Count(said, "\n")
			if (c.code == 2 && lines != 2) || (c.code != 2 && lines != 1) || !strings.HasPrefix(said, "refit: ") {
				t.Errorf("it is not one sentence, and for wrong usage where to find help:\n%s", said)
			}
			if strings.ContainsAny(said, "\x1b") || strings.Contains(said, "goroutine") {
				t.Errorf("it shows what nobody should see: %q", said)
			}
			if l.out.Len() > 0 {
				t.Errorf("stdout is for answers, not %q", l.out.String())
			}
		})
	}
}

// nobodyTellsVersions is a cluster whose API servers do not report a version.
func nobodyTellsVersions(s *cluster.Snapshot) {
	s.Version, s.APIServers = "", nil
	for i := range s.Nodes {
		s.Nodes[i].Static = nil
	}
}

// A worker that has just joined does not report its version yet. A check reports that, and the
// commands still print a result.
func TestWorkerWithoutAVersion(t *testing.T) {
	from := saved(t, shop(clustertest.OnNode("worker-2", func(n *cluster.Node) { n.Kubelet = "" })))
	for _, command := range []string{"check", "plan"} {
		l := newLine(t)
		l.preflight = preflight.Run
		code := l.run(t, command, "--to", "v1.36.3", "--from", from)
		if code != exit.Blocked || !strings.Contains(l.out.String(), "KubeletTooOld") {
			t.Errorf("%s: exit code %d: %s%s", command, code, l.err, l.out)
		}
	}
}

func TestExitCodesOfAnswers(t *testing.T) {
	from := saved(t, shop())
	for name, c := range map[string]struct {
		command  []string
		findings []preflight.Finding
		code     int
	}{
		"check, nothing found":     {[]string{"check", "--to", "v1.36.3"}, nil, 0},
		"check, a warning":         {[]string{"check", "--to", "v1.36.3"}, []preflight.Finding{warns}, 0},
		"check, blocked":           {[]string{"check", "--to", "v1.36.3"}, []preflight.Finding{blocks, warns}, 3},
		"check, blocked, JSON":     {[]string{"check", "--to", "v1.36.3", "-o", "json"}, []preflight.Finding{blocks}, 3},
		"plan, nothing found":      {[]string{"plan", "--to", "1.36.3"}, nil, 0},
		"plan, blocked":            {[]string{"plan", "--to", "v1.36.3"}, []preflight.Finding{blocks}, 3},
		"plan, blocked, YAML":      {[]string{"plan", "--to", "v1.36.3", "-o", "yaml"}, []preflight.Finding{blocks}, 3},
		"plan, blocked, request":   {[]string{"plan", "--to", "v1.36.3", "-o", "manifest"}, []preflight.Finding{blocks}, 3},
		"plan, output in capitals": {[]string{"plan", "--to", "v1.36.3", "-o", "JSON", "--scope", "controlplane"}, nil, 0},
		"plan of a minor version":  {[]string{"plan", "--to", "v1.36"}, nil, 0},
		"plan, nothing to do":      {[]string{"plan", "--to", "v1.35.4"}, []preflight.Finding{blocks}, 0},
		"plan of a release":        {[]string{"plan", "--release", "kubernetes-v1.36.3"}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t, c.findings...)
			if code := l.run(t, append(c.command, "--from", from)...); code != c.code {
				t.Errorf("exit code %d, want %d; it says %q", code, c.code, l.err)
			}
			if l.out.Len() == 0 || l.err.Len() > 0 {
				t.Errorf("the answer is to be on stdout, and nothing on stderr: %q", l.err)
			}
		})
	}
}

func TestUnusableServers(t *testing.T) {
	unauthorized := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer unauthorized.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	for name, c := range map[string]struct {
		server, timeout string
		code            int
		says            string
	}{
		"one that rejects the credentials": {unauthorized.URL, "1m", 1, "rejects your credentials"},
		"one that does not respond":        {silent.URL, "50ms", 4, "within 50ms"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLine(t)
			code := l.run(t, "snapshot", "--timeout", c.timeout, "--kubeconfig", kubeconfigFor(t, c.server))
			if code != c.code || !strings.Contains(l.err.String(), c.says) {
				t.Errorf("exit code %d and %q, want %d and %q", code, l.err, c.code, c.says)
			}
		})
	}
}

// A timeout reports the part that was being read; an interrupt ends the command immediately.
func TestReadingThatEndsEarly(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"gitVersion":"v1.35.4"}`) }))
	defer server.Close()
	for name, c := range map[string]struct {
		timeout time.Duration
		code    int
		says    string
	}{
		"timed out":   {2 * time.Second, 4, "last part: pods"},
		"interrupted": {time.Minute, 130, "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			l := newLine(t)
			l.observe = func(reading context.Context, _ *rest.Config, doing func(string)) (*cluster.Snapshot, error) {
				doing("pods")
				if c.timeout == time.Minute {
					interrupt()
				}
				<-reading.Done()
				return nil, reading.Err()
			}
			code := run(ctx, l.app, []string{"snapshot", "--timeout", c.timeout.String(), "--kubeconfig", kubeconfigFor(t, server.URL)})
			if code != c.code || !strings.Contains(l.err.String(), c.says) {
				t.Errorf("exit code %d and %q, want %d and %q", code, l.err, c.code, c.says)
			}
		})
	}
}

// A Snapshot of a cluster can be planned on another machine.
func TestSnapshotThenPlan(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"gitVersion":"v1.35.4"}`) }))
	defer server.Close()
	reading := newLine(t)
	reading.observe = func(context.Context, *rest.Config, func(string)) (*cluster.Snapshot, error) { return shop(), nil }
	if code := reading.run(t, "snapshot", "-v", "--kubeconfig", kubeconfigFor(t, server.URL)); code != 0 {
		t.Fatalf("exit code %d: %s", code, reading.err)
	}
	if !strings.Contains(reading.err.String(), "Reading prod, 0 s: connecting to http://") {
		t.Errorf("asked to tell what it does, it says %q", reading.err)
	}
	planning := newLine(t)
	planning.In = reading.out
	if code := planning.run(t, "plan", "--to", "v1.36.3", "--from", "-"); code != 0 {
		t.Fatalf("exit code %d: %s", code, planning.err)
	}
	if !strings.Contains(planning.out.String(), "as saved in stdin on 2026-03-02 at 10:00 UTC") {
		t.Errorf("the page does not say how old what it shows is:\n%s", planning.out)
	}
}

func kubeconfigFor(t *testing.T, server string) string {
	t.Helper()
	return file(t, "config", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: prod
contexts: [{name: prod, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: %q}}]
users: [{name: u, user: {token: t}}]
`, server))
}
