//go:build apiserver

package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/cluster"
	"github.com/refit-dev/refit/internal/agent/report"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/test/apiserver"
)

const (
	config       = "../../../config"
	checkTimeout = 30 * time.Second
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// server returns an API server with everything in config/ in effect.
func server(t *testing.T, version string) *apiserver.Server {
	t.Helper()
	s := apiserver.Start(t, apiserver.Options{Version: version, Audit: true})
	for _, folder := range []string{"crd", "rbac", "policy"} {
		s.Install(t, filepath.Join(config, folder))
	}
	return s
}

// orders returns the client for NodeUpgrades.
func orders(t *testing.T, s *apiserver.Server) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(s.RESTConfig())
	must(t, err)
	return client.Resource(refitv1alpha1.GroupVersion.WithResource("nodeupgrades"))
}

// order creates the NodeUpgrade of a node.
func order(t *testing.T, s *apiserver.Server, name string) {
	t.Helper()
	made := &refitv1alpha1.NodeUpgrade{
		TypeMeta:   metav1.TypeMeta{APIVersion: refitv1alpha1.GroupVersion.String(), Kind: "NodeUpgrade"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: refitv1alpha1.NodeUpgradeSpec{
			Format: 1, Operation: refitv1alpha1.Operation{Name: "op", UID: "u-op"}, NodeUID: "u-1", MachineID: strings.Repeat("a", 32), Sequence: 1, Epoch: 1,
			Role: refitv1alpha1.RoleWorker, Release: refitv1alpha1.ReleaseRef{Name: "rel", Digest: "sha256:" + strings.Repeat("0", 64)},
			Permit: refitv1alpha1.PermitHold,
		},
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(made)
	must(t, err)
	delete(object, "status")
	_, err = orders(t, s).Create(t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	must(t, err)
}

// operation creates a ClusterUpgrade.
func operation(t *testing.T, s *apiserver.Server, name string) {
	t.Helper()
	client, err := dynamic.NewForConfig(s.RESTConfig())
	must(t, err)
	_, err = client.Resource(refitv1alpha1.GroupVersion.WithResource("clusterupgrades")).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": refitv1alpha1.GroupVersion.String(), "kind": "ClusterUpgrade", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"target": map[string]any{"kubernetes": "v1.36.3"}},
	}}, metav1.CreateOptions{})
	must(t, err)
}

// raise sets another sequence in a node's order.
func raise(t *testing.T, s *apiserver.Server, name string, sequence int) {
	t.Helper()
	change := fmt.Sprintf(`{"spec":{"sequence":%d}}`, sequence)
	_, err := orders(t, s).Patch(t.Context(), name, types.MergePatchType, []byte(change), metav1.PatchOptions{})
	must(t, err)
}

// kubelet is a kubelet's kubeconfig as it is on a host: its certificate is a link to a file that
// rotates.
type kubelet struct {
	t    *testing.T
	dir  string
	next int
}

func newKubelet(t *testing.T, who *rest.Config) *kubelet {
	t.Helper()
	k := &kubelet{t: t, dir: t.TempDir()}
	k.rotate(who)
	k.point(who.Host, who.CAData)
	return k
}

func (k *kubelet) path() string { return filepath.Join(k.dir, "kubelet.conf") }

// rotate installs a new certificate as a kubelet does.
func (k *kubelet) rotate(who *rest.Config) {
	k.t.Helper()
	k.next++
	file, link := filepath.Join(k.dir, fmt.Sprintf("kubelet-client-%d.pem", k.next)), filepath.Join(k.dir, "kubelet-client-current.pem")
	must(k.t, os.WriteFile(file, append(slices.Clone(who.CertData), who.KeyData...), 0o600))
	must(k.t, os.Symlink(file, link+".new"))
	must(k.t, os.Rename(link+".new", link))
}

// point writes the server address into the kubeconfig as kubeadm does.
func (k *kubelet) point(address string, ca []byte) {
	k.t.Helper()
	current := filepath.Join(k.dir, "kubelet-client-current.pem")
	content := clientcmdapi.NewConfig()
	content.Clusters["c"] = &clientcmdapi.Cluster{Server: address, CertificateAuthorityData: ca}
	content.AuthInfos["u"] = &clientcmdapi.AuthInfo{ClientCertificate: current, ClientKey: current}
	content.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	content.CurrentContext = "x"
	must(k.t, clientcmd.WriteToFile(*content, k.path()+".new"))
	must(k.t, os.Rename(k.path()+".new", k.path()))
}

// agent returns the client of a node's agent.
func agent(t *testing.T, s *apiserver.Server, name string) *cluster.Client {
	t.Helper()
	client, err := cluster.Connect(newKubelet(t, s.As(t, "system:node:"+name, "system:nodes")).path(), "v0.0.1-test")
	must(t, err)
	return client
}

// watch starts a watch that stops with the test.
func watch(t *testing.T, c *cluster.Client) <-chan cluster.Event {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	events, ended := make(chan cluster.Event), make(chan struct{})
	go func() {
		defer close(ended)
		c.Watch(ctx, events)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return events
}

// until reads events until one matches.
func until(t *testing.T, events <-chan cluster.Event, what string, fits func(cluster.Event) bool) (taken int) {
	t.Helper()
	for deadline := time.After(checkTimeout); ; {
		select {
		case event := <-events:
			if taken++; fits(event) {
				return taken
			}
		case <-deadline:
			t.Fatalf("%s was not told", what)
		}
	}
}

func sequence(n int64) func(cluster.Event) bool {
	return func(e cluster.Event) bool { return e.Upgrade != nil && e.Upgrade.Spec.Sequence == n }
}

func gone(kind cluster.Kind) func(cluster.Event) bool {
	return func(e cluster.Event) bool { return e.Gone == kind }
}

func TestAnAgentReadsItsTwoObjectsAndWritesItsStatus(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := server(t, version)
		core, err := kubernetes.NewForConfig(s.RESTConfig())
		must(t, err)
		node, err := core.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, metav1.CreateOptions{})
		must(t, err)
		c := agent(t, s, "n1")
		if c.NodeName() != "n1" {
			t.Errorf("it is node %q", c.NodeName())
		}
		events := watch(t, c)
		seen := map[cluster.Kind]bool{}
		until(t, events, "that there is neither object", func(e cluster.Event) bool { seen[e.Gone] = true; return len(seen) == 2 })

		found, err := c.Node(t.Context())
		must(t, err)
		if found.UID != node.UID {
			t.Errorf("its Node is %+v", found.ObjectMeta)
		}
		for range 2 { // the second time it exists already
			must(t, c.EnsureReport(t.Context(), found))
		}
		until(t, events, "its new report", func(e cluster.Event) bool {
			return e.Report != nil && len(e.Report.OwnerReferences) == 1 && e.Report.OwnerReferences[0].UID == node.UID
		})
		now := metav1.NewTime(time.Now().UTC().Truncate(time.Second))
		must(t, c.ApplyReportStatus(t.Context(), refitv1alpha1.NodeReportStatus{Kernel: "6.8", ObservedTime: &now, HeldPackages: []string{"kubelet"}}))
		must(t, c.ApplyReportStatus(t.Context(), refitv1alpha1.NodeReportStatus{Kernel: "6.9", ObservedTime: &now}))
		until(t, events, "its facts", func(e cluster.Event) bool {
			return e.Report != nil && e.Report.Status.Kernel == "6.9" && len(e.Report.Status.HeldPackages) == 0
		})

		got := report.Gather(t.Context(), report.Sources{AgentVersion: "v0.0.1-test", NodeName: "n1", Settings: settings.Default(), API: c})
		must(t, c.ApplyReportStatus(t.Context(), got))
		until(t, events, "the facts of this machine", func(e cluster.Event) bool {
			return e.Report != nil && !report.Changed(e.Report.Status, got) && *e.Report.Status.EndpointReachable
		})

		order(t, s, "n1")
		order(t, s, "n2")
		until(t, events, "its order", sequence(1))
		drained := []byte(`{"status":{"drain":{"phase":"Drained","sequence":1}}}`)
		_, err = orders(t, s).Patch(t.Context(), "n1", types.MergePatchType, drained, metav1.PatchOptions{}, "status")
		must(t, err)
		must(t, c.ApplyUpgradeStatus(t.Context(), "n1", refitv1alpha1.NodeUpgradeStatus{
			Phase: refitv1alpha1.NodeApplying, ObservedSequence: 1, StartTime: &now,
			Drain: &refitv1alpha1.DrainStatus{Phase: refitv1alpha1.DrainFailed, Sequence: 9}, // writes the drain status back by mistake
		}))
		until(t, events, "its progress beside the controller's", func(e cluster.Event) bool {
			return e.Upgrade != nil && e.Upgrade.Status.Phase == refitv1alpha1.NodeApplying && e.Upgrade.Status.Drain != nil &&
				e.Upgrade.Status.Drain.Phase == refitv1alpha1.DrainDrained
		})
		if err := c.ApplyUpgradeStatus(t.Context(), "n2", refitv1alpha1.NodeUpgradeStatus{Phase: refitv1alpha1.NodeSucceeded}); !apierrors.IsForbidden(err) {
			t.Errorf("it wrote about another node: %v", err)
		}
		if _, err := c.Release(t.Context(), "rel"); !apierrors.IsNotFound(err) {
			t.Errorf("a ClusterRelease that is not there: %v", err)
		}
		if _, err := c.Operation(t.Context(), "op"); !apierrors.IsNotFound(err) {
			t.Errorf("a ClusterUpgrade that is not there: %v", err)
		}
		operation(t, s, "op")
		if found, err := c.Operation(t.Context(), "op"); err != nil || found.Spec.Target.Kubernetes != "v1.36.3" {
			t.Errorf("the ClusterUpgrade: %v", err)
		}
		if _, _, err := c.ServerTime(t.Context()); err != nil {
			t.Error(err)
		} else if server, host, _ := c.ServerTime(t.Context()); host.Sub(server).Abs() > 2*time.Second {
			t.Errorf("the clocks of one machine are %s apart", host.Sub(server))
		}

		// Nobody reads events meanwhile: the events delivered afterwards are few and recent.
		const changes = 50
		for n := 2; n <= changes; n++ {
			raise(t, s, "n1", n)
		}
		time.Sleep(time.Second)
		if taken := until(t, events, "the last of many orders", sequence(changes)); taken > 3 {
			t.Errorf("it was told %d times", taken)
		}
		must(t, orders(t, s).Delete(t.Context(), "n1", metav1.DeleteOptions{}))
		until(t, events, "that the order is gone", gone(cluster.KindUpgrade))

		for _, e := range s.AuditOf(t, "system:node:n1") {
			if e.UserAgent != "refit-agent/v0.0.1-test" {
				t.Errorf("%s %s came from %q", e.Verb, e.URI, e.UserAgent)
			}
			if (e.Verb == "watch" || e.Verb == "list") && !strings.Contains(e.URI, "fieldSelector=metadata.name%3Dn1") {
				t.Errorf("it asks for the objects of others, too: %s %s", e.Verb, e.URI)
			}
		}
	})
}

func TestAnIdleAgentSendsNoRequests(t *testing.T) {
	s := server(t, apiserver.Versions(t)[0])
	order(t, s, "n1")
	events := watch(t, agent(t, s, "n1"))
	until(t, events, "its order", sequence(1))
	until(t, events, "that there is no report", gone(cluster.KindReport))
	before := len(s.AuditOf(t, "system:node:n1"))
	time.Sleep(20 * time.Second)
	asked := s.AuditOf(t, "system:node:n1")
	if len(asked) != before {
		t.Errorf("while nothing happened, it asked %v", asked[before:])
	}
	var open int
	for _, e := range asked {
		switch {
		case e.Verb == "watch" && e.Code == http.StatusOK:
			open++
		case e.Code != http.StatusTooManyRequests: // from a server that has just started to serve a CRD
			t.Errorf("it asked %s %s (%d)", e.Verb, e.URI, e.Code)
		}
	}
	if open != 2 {
		t.Errorf("it watches %d times: %v", open, asked)
	}
}

func TestAnAgentWaitsForAnUnreachableAPI(t *testing.T) {
	s := server(t, apiserver.Versions(t)[0])
	order(t, s, "n1")
	c := agent(t, s, "n1")
	events := watch(t, c)
	until(t, events, "its order", sequence(1))
	s.Stop(t)
	if err := c.ApplyReportStatus(t.Context(), refitv1alpha1.NodeReportStatus{}); err == nil {
		t.Error("it wrote to nobody")
	}
	time.Sleep(3 * time.Second)
	s.Restart(t)
	raise(t, s, "n1", 2)
	until(t, events, "what changed", sequence(2))
	if err := c.EnsureReport(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "u-1"}}); err != nil {
		t.Errorf("it cannot write again: %v", err)
	}
}

func TestAnAgentUsesARenewedCertificateAndAChangedAddress(t *testing.T) {
	s := server(t, apiserver.Versions(t)[0])
	order(t, s, "n1")
	stranger, right := s.As(t, "system:node:n1"), s.As(t, "system:node:n1", "system:nodes")
	k := newKubelet(t, stranger)
	c, err := cluster.Connect(k.path(), "test")
	must(t, err)
	if _, err := c.Release(t.Context(), "rel"); !apierrors.IsForbidden(err) {
		t.Errorf("without its group it reads Releases: %v", err)
	}
	k.rotate(right)
	if _, err := c.Release(t.Context(), "rel"); !apierrors.IsNotFound(err) {
		t.Errorf("the certificate of today is not used: %v", err)
	}

	k.point("https://127.0.0.1:1", right.CAData)
	events := watch(t, c)
	if _, err := c.Release(t.Context(), "rel"); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("the address of today is not used: %v", err)
	}
	time.Sleep(time.Second)
	k.point(right.Host, right.CAData)
	until(t, events, "its order", sequence(1))

	k.rotate(s.As(t, "system:node:n2", "system:nodes"))
	if _, err := c.Release(t.Context(), "rel"); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("it speaks for another node now: %v", err)
	}
	if _, err := cluster.Connect(newKubelet(t, s.As(t, "jane")).path(), "test"); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("jane is a node: %v", err)
	}
}
