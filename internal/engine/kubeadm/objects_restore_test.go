package kubeadm

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

var clusterPhases = []string{PhaseUploadConfig, PhaseAddon}

// tracked is a cluster whose objects an operation brought to "new", and where it recorded them.
func tracked(t *testing.T) (*fake.Clientset, string) {
	t.Helper()
	client, dir := cluster(), filepath.Join(t.TempDir(), "objects")
	must(t, TrackObjects(t.Context(), client, dir, PhaseUploadConfig, func() error { changeConfig(t, client, "new"); return nil }))
	must(t, TrackObjects(t.Context(), client, dir, PhaseAddon, func() error { changeAddons(t, client, "new"); return nil }))
	return client, dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// images are what the objects of a cluster are at.
func images(t *testing.T, client *fake.Clientset) string {
	t.Helper()
	config, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(t.Context(), "kubeadm-config", metav1.GetOptions{})
	must(t, err)
	proxy, err := client.AppsV1().DaemonSets(metav1.NamespaceSystem).Get(t.Context(), kubeProxy, metav1.GetOptions{})
	must(t, err)
	dns, err := client.AppsV1().Deployments(metav1.NamespaceSystem).Get(t.Context(), coreDNS, metav1.GetOptions{})
	must(t, err)
	return strings.Join([]string{
		config.Data["ClusterConfiguration"], proxy.Spec.Template.Spec.Containers[0].Image, dns.Spec.Template.Spec.Containers[0].Image,
	}, " ")
}

func restoreAll(t *testing.T, client *fake.Clientset, dir string, relying ...string) []string {
	t.Helper()
	var all []string
	for _, phase := range clusterPhases {
		kept, err := RestoreObjects(t.Context(), client, dir, phase, relying)
		must(t, err)
		all = append(all, kept...)
	}
	return all
}

func TestObjectsThatTheOperationWroteAreRestored(t *testing.T) {
	client, dir := tracked(t)
	if text := read(t, filepath.Join(dir, objectsFile)); strings.Contains(text, "hidden") {
		t.Errorf("a Secret was saved: %s", text)
	}
	dns, _ := client.AppsV1().Deployments(metav1.NamespaceSystem).Get(t.Context(), coreDNS, metav1.GetOptions{})
	dns.Spec.Replicas = ptr.To[int32](5)
	dns.Generation++
	_, err := client.AppsV1().Deployments(metav1.NamespaceSystem).Update(t.Context(), dns, metav1.UpdateOptions{})
	must(t, err)
	conflicts := 0
	client.PrependReactor("update", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		conflicts++
		return conflicts == 1, nil, apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "kubeadm-config", nil)
	})
	if kept := restoreAll(t, client, dir); len(kept) > 0 || images(t, client) != "old old old" {
		t.Errorf("%v; kept %v", images(t, client), kept)
	}
	dns, _ = client.AppsV1().Deployments(metav1.NamespaceSystem).Get(t.Context(), coreDNS, metav1.GetOptions{})
	if *dns.Spec.Replicas != 5 {
		t.Errorf("CoreDNS was scaled to 5, got %d", *dns.Spec.Replicas)
	}
	client.ClearActions()
	restoreAll(t, client, dir)
	for _, action := range client.Actions() {
		if action.GetVerb() != "get" {
			t.Errorf("a second time: %s %s", action.GetVerb(), action.GetResource().Resource)
		}
	}
}

// The fault of an undo on one host: it took the objects of the cluster back while the other nodes
// stayed new.
func TestObjectsThatOtherNodesRelyOnAreKept(t *testing.T) {
	client, dir := tracked(t)
	kept := restoreAll(t, client, dir, "cp-2", "cp-3", "worker-1", "worker-2")
	if images(t, client) != "new new new" || len(kept) != 3 || !strings.Contains(kept[0], "kubeadm-config: other nodes rely on it: cp-2, cp-3, worker-1 and 1 more") {
		t.Errorf("%v; kept %v", images(t, client), kept)
	}
	restored, left, err := ReviewObjects(t.Context(), client, dir, PhaseUploadConfig, nil)
	if err != nil || !slices.Equal(restored, []string{"ConfigMap kube-system/kubeadm-config"}) || len(left) > 0 {
		t.Errorf("%v, %v, %v", restored, left, err)
	}
}

func TestObjectsThatWereChangedSinceAreKept(t *testing.T) {
	client, dir := tracked(t)
	change(t, client, "by an administrator")
	kept := restoreAll(t, client, dir)
	if got := images(t, client); strings.Contains(got, "old") || len(kept) != 3 || !strings.Contains(kept[0], "changed since") {
		t.Errorf("%v; kept %v", got, kept)
	}
}

// Add-ons that the last control plane node upgraded are not the first one's to restore.
func TestObjectsThatThisHostDidNotWriteAreLeftAlone(t *testing.T) {
	client, dir := cluster(), t.TempDir()
	for _, phase := range clusterPhases {
		must(t, TrackObjects(t.Context(), client, dir, phase, func() error { return nil }))
	}
	change(t, client, "new")
	if kept := restoreAll(t, client, dir); len(kept) > 0 || images(t, client) != "new new new" {
		t.Errorf("%v; kept %v", images(t, client), kept)
	}
}

func TestAgentThatIsKilledAroundAPhase(t *testing.T) {
	killed := errors.New("killed")
	die := func(client *fake.Clientset, dir string, act func()) {
		defer func() { _ = recover() }()
		_ = TrackObjects(t.Context(), client, dir, PhaseUploadConfig, func() error {
			act()
			panic(killed)
		})
	}
	for name, goesOn := range map[string]bool{"and rolls back": false, "and goes on": true} {
		t.Run(name, func(t *testing.T) {
			client, dir := cluster(), t.TempDir()
			die(client, dir, func() { change(t, client, "new") })
			if goesOn {
				must(t, TrackObjects(t.Context(), client, dir, PhaseUploadConfig, func() error { change(t, client, "new"); return nil }))
			}
			kept := restoreAll(t, client, dir)
			if got := images(t, client); !strings.HasPrefix(got, "old ") || len(kept) > 0 {
				t.Errorf("%v; kept %v", got, kept)
			}
		})
	}
}

func TestObjectThatIsGoneStaysGone(t *testing.T) {
	client, dir := tracked(t)
	must(t, client.AppsV1().DaemonSets(metav1.NamespaceSystem).Delete(t.Context(), kubeProxy, metav1.DeleteOptions{}))
	restoreAll(t, client, dir)
	if addons, err := ReadAddons(t.Context(), client); err != nil || addons.KubeProxy {
		t.Errorf("kube-proxy was created again: %v", err)
	}
	if kept := restoreAll(t, client, t.TempDir()); len(kept) > 0 {
		t.Errorf("nothing was saved: %v", kept)
	}
}

func TestRecordsThatCannotBeReadAreRefused(t *testing.T) {
	client, dir := cluster(), t.TempDir()
	write(t, filepath.Join(dir, objectsFile), "{torn")
	_, err := RestoreObjects(t.Context(), client, dir, PhaseAddon, nil)
	expect(t, err, refitv1alpha1.FailureHostBroken, "SavedObjectsBroken")
	write(t, filepath.Join(dir, objectsFile), `{"configMaps":[]}`)
	_, err = RestoreObjects(t.Context(), client, dir, PhaseAddon, nil)
	expect(t, err, refitv1alpha1.FailureManualIntervention, "SavedTooOld")
	called := false
	err = TrackObjects(t.Context(), client, dir, PhaseAddon, func() error { called = true; return nil })
	expect(t, err, refitv1alpha1.FailureManualIntervention, "SavedTooOld")
	if called {
		t.Error("the phase ran without a record of it")
	}
}

func TestNodesThatRelyOnAVersion(t *testing.T) {
	kubelet := func(name, version string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: version}}}
	}
	server := func(name, version string) *corev1.Pod {
		meta := named("kube-apiserver-" + name)
		meta.Labels = map[string]string{"component": "kube-apiserver"}
		return &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{
			NodeName: name, Containers: []corev1.Container{{Name: "kube-apiserver", Image: "registry.k8s.io/kube-apiserver:" + version}},
		}}
	}
	for name, c := range map[string]struct {
		there []runtime.Object
		want  []string
	}{
		"this node alone":               {[]runtime.Object{kubelet("cp-1", "v1.36.3"), server("cp-1", "v1.36.3")}, nil},
		"others are old":                {[]runtime.Object{kubelet("cp-2", "v1.35.4"), server("cp-2", "v1.35.4"), kubelet("w", "v1.36.2")}, nil},
		"a worker is new":               {[]runtime.Object{kubelet("cp-2", "v1.35.4"), kubelet("w", "v1.36.3")}, []string{"w"}},
		"an API server is new":          {[]runtime.Object{kubelet("cp-2", "v1.35.4"), server("cp-2", "v1.36.3")}, []string{"cp-2"}},
		"beyond it":                     {[]runtime.Object{kubelet("cp-2", "v1.37.1"), server("cp-2", "v1.37.1")}, []string{"cp-2"}},
		"a version that cannot be read": {[]runtime.Object{kubelet("w", "custom")}, []string{"w"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Relying(t.Context(), fake.NewClientset(c.there...), "cp-1", "v1.36.3")
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
	away := fake.NewClientset()
	away.PrependReactor("list", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, context.DeadlineExceeded })
	_, err := Relying(t.Context(), away, "cp-1", "v1.36.3")
	expect(t, err, refitv1alpha1.FailureTransient, "APIUnavailable")
}
