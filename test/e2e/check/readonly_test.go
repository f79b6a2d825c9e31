//go:build e2e

package check

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestCheckLeavesNothing verifies that the checks change nothing in the cluster and need only read
// permissions, and that a saved snapshot yields the same results as the cluster and contains no
// secrets.
func TestCheckLeavesNothing(t *testing.T) {
	b := newBed(t, cluster.Spec{Name: "readonly", Workers: 1, Kubernetes: older})
	secrets := b.plantSecrets(t)
	t.Run("leaves nothing", func(t *testing.T) { b.leavesNothing(t) })
	t.Run("with rights to read", func(t *testing.T) { b.readsOnly(t) })
	t.Run("a saved Snapshot says the same", func(t *testing.T) { b.saysTheSame(t) })
	t.Run("a saved Snapshot has no secret", func(t *testing.T) { b.tellsNoSecret(t, secrets) })
}

// looks runs every command that reads the cluster.
func (b *bed) looks(t *testing.T, r *refit) {
	t.Helper()
	for _, args := range [][]string{{"check", "--to", newer}, {"plan", "--to", newest}, {"snapshot"}} {
		if out, code, err := r.run(t.Context(), args...); err != nil || code != exitDone {
			t.Fatalf("refit %s ended with %d: %v: %s", args[0], code, err, out)
		}
	}
}

// leavesNothing compares the cluster before and after. Kubernetes itself changes an object now and
// then, but not on every try.
func (b *bed) leavesNothing(t *testing.T) {
	t.Helper()
	var changed []string
	for range 10 {
		before := b.inventory(t)
		b.looks(t, b.refit)
		if changed = differences(before, b.inventory(t)); len(changed) == 0 {
			t.Logf("none of %d objects changed", len(before))
			return
		}
	}
	t.Errorf("objects changed every time: %s", strings.Join(changed, ", "))
}

// restless are resources that change continuously by themselves.
var restless = []string{"leases", "events"}

// inventory returns the resource version of every object.
func (b *bed) inventory(t *testing.T) map[string]string {
	t.Helper()
	config, err := b.RESTConfig()
	must(t, err)
	config.QPS, config.Burst = 100, 200
	client, err := metadata.NewForConfig(config)
	must(t, err)
	lists, err := b.client.Discovery().ServerPreferredResources()
	must(t, err)
	listable := discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list"}}, lists)
	versions := map[string]string{}
	for _, list := range listable {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		must(t, err)
		for _, resource := range list.APIResources {
			if slices.Contains(restless, resource.Name) {
				continue
			}
			found, err := client.Resource(group.WithResource(resource.Name)).List(t.Context(), metav1.ListOptions{})
			must(t, err)
			for _, o := range found.Items {
				versions[fmt.Sprintf("%s.%s %s/%s", resource.Name, group.Group, o.Namespace, o.Name)] = o.ResourceVersion
			}
		}
	}
	return versions
}

// differences returns the objects that were created, deleted or changed.
func differences(before, after map[string]string) []string {
	var found []string
	for name, version := range after {
		if before[name] != version {
			found = append(found, name)
		}
	}
	for name := range before {
		if _, there := after[name]; !there {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

const reader = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
- {apiGroups: ["*"], resources: ["*"], verbs: [get, list]}
- {nonResourceURLs: ["/metrics", "/readyz", "/version"], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]
`

// readsOnly runs the checks with read-only permissions and compares the results.
func (b *bed) readsOnly(t *testing.T) {
	t.Helper()
	must(t, b.apply(t.Context(), reader))
	config, err := clientcmd.LoadFromFile(b.KubeconfigFile())
	must(t, err)
	for _, who := range config.AuthInfos {
		who.Impersonate = "reader"
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(*config, file))
	limited := &refit{program: b.refit.program, kubeconfig: file}
	must(t, until(t.Context(), "the right to read", func(ctx context.Context) error {
		_, _, err := limited.run(ctx, "snapshot")
		return err
	}))
	b.looks(t, limited)
	all, err := b.refit.check(t.Context(), newer)
	must(t, err)
	some, err := limited.check(t.Context(), newer)
	must(t, err)
	sameFindings(t, all, some)
}

// saysTheSame compares the results for the cluster with those for its snapshot.
func (b *bed) saysTheSame(t *testing.T) {
	t.Helper()
	file := b.save(t)
	for _, to := range []string{newer, newest} {
		live, err := b.refit.ask(t.Context(), "plan", "--to", to)
		must(t, err)
		saved, err := b.refit.ask(t.Context(), "plan", "--to", to, "--from", file)
		must(t, err)
		if live.Plan == nil || saved.Plan == nil || live.Plan.Hash == "" || live.Plan.Hash != saved.Plan.Hash {
			t.Errorf("to %s: the plans differ: %+v of the cluster, %+v of its Snapshot", to, live.Plan, saved.Plan)
		}
		sameFindings(t, live, saved)
	}
}

func sameFindings(t *testing.T, a, b answer) {
	t.Helper()
	count := map[string]int{}
	for _, f := range a.Findings {
		count[f.Check+" "+f.Object]++
	}
	for _, f := range b.Findings {
		count[f.Check+" "+f.Object]--
	}
	maps.DeleteFunc(count, func(_ string, n int) bool { return n == 0 })
	if len(count) > 0 {
		t.Errorf("the findings differ: %v", count)
	}
}

// save writes a snapshot to a file.
func (b *bed) save(t *testing.T) string {
	t.Helper()
	out, _, err := b.refit.run(t.Context(), "snapshot")
	must(t, err)
	file := filepath.Join(t.TempDir(), "snapshot.json")
	must(t, os.WriteFile(file, out, 0o600))
	return file
}

// plantSecrets places strings wherever users keep secrets, and returns the strings.
func (b *bed) plantSecrets(t *testing.T) []string {
	t.Helper()
	var planted []string
	plant := func(place string) string {
		planted = append(planted, "canary-"+place)
		return "canary-" + place
	}
	must(t, objects(
		fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: secret, namespace: shop}, stringData: {key: %s}}`, plant("secret")),
		fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop}, data: {key: %s}}`, plant("configmap")),
		helm{
			name: "chart", status: "deployed", values: map[string]any{"password": plant("helm-value")},
			manifest: fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: of-chart, annotations: {note: %s}}\nstringData: {key: %s}\n",
				plant("helm-annotation"), plant("helm-manifest")),
		}.secret(),
		app{
			name: "cart", replicas: 1, meta: fmt.Sprintf("annotations: {note: %s}", plant("annotation")),
			container: fmt.Sprintf(`, args: [--token=%s], env: [{name: TOKEN, value: %s}]`, plant("argument"), plant("env")),
		}.manifest(),
		strings.ReplaceAll(webhook{name: "outside", service: "URL", fails: "Ignore"}.manifest(), "service: {URL}",
			fmt.Sprintf(`url: "https://hooks.example.com/%s"`, plant("url"))), // the API allows neither a password nor a query in the URL
	).seed(t.Context(), b))
	for _, f := range []fault{
		edited(kubeadmConfig, argument("apiServer", "oidc-client-id", plant("flag"))),
		edited(kubeletConfig, set("providerID", plant("kubelet"))),
		edited(dnsConfig, func(text string) (string, error) {
			return strings.Replace(text, "    ready\n", "    ready\n    rewrite name "+plant("corefile")+".example.com kubernetes.default.svc.cluster.local\n", 1), nil
		}),
	} {
		must(t, f.seed(t.Context(), b))
	}
	_, err := b.Kubectl(t.Context(), nil, "annotate", "node", "readonly-worker-1", "example.com/note="+plant("node"))
	must(t, err)
	return planted
}

func (b *bed) tellsNoSecret(t *testing.T, secrets []string) {
	t.Helper()
	text, err := os.ReadFile(b.save(t))
	must(t, err)
	for _, secret := range secrets {
		if strings.Contains(string(text), secret) || strings.Contains(string(text), base64.StdEncoding.EncodeToString([]byte(secret))) {
			t.Errorf("the Snapshot holds %s", secret)
		}
	}
	// The neighboring values prove that the snapshot covers the places with the secrets.
	for _, neighbor := range []string{"chart-1.2.3", "oidc-client-id", "providerID", "hooks.example.com", "readonly-worker-1", `"cart"`, `"rewrite"`} {
		if !strings.Contains(string(text), neighbor) {
			t.Errorf("the Snapshot does not have %s", neighbor)
		}
	}
}
