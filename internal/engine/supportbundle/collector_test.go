package supportbundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	engine "github.com/refit-dev/refit/internal/engine/supportbundle"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

// now is the time of the API server, and of the collector unless a test changes it.
var now = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// bed is a cluster of fake clients. Its kubelets start no Pod that prints a bundle.
type bed struct {
	engine.Collector

	typed   *fake.Clientset
	dynamic *dynamicfake.FakeDynamicClient
	options engine.Options
	reports []string
}

func newBed(t *testing.T, pods ...runtime.Object) *bed {
	t.Helper()
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "refit-agent", Name: "refit-agent"}}
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "agent", Image: "example.com/agent:v1"}}
	b := &bed{typed: fake.NewClientset(append(pods, set)...), options: engine.Options{Limits: supportbundle.DefaultLimits()}}
	b.options.Limits.HostTimeout = 2 * time.Second
	lists := map[schema.GroupVersionResource]string{}
	for _, kind := range engine.Kinds {
		lists[schema.GroupVersionResource{Group: "refit.dev", Version: "v1alpha1", Resource: kind}] = "List"
	}
	for _, kind := range []string{"nodes", "pods", "events"} {
		lists[schema.GroupVersionResource{Version: "v1", Resource: kind}] = "List"
	}
	for _, kind := range []string{"daemonsets", "deployments"} {
		lists[schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: kind}] = "List"
	}
	lists[schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}] = "List"
	b.dynamic = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists)
	created := 0
	b.typed.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		pod := a.(clienttesting.CreateAction).GetObject().(*corev1.Pod)
		created++
		pod.Name, pod.CreationTimestamp = fmt.Sprint(pod.GenerateName, created), metav1.NewTime(now)
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: "unknown command token=canary-0123456789abcdef"}}}}
		return false, nil, nil
	})
	b.Collector = engine.Collector{Typed: b.typed, Dynamic: b.dynamic, Cluster: "test", Version: "v1", Now: func() time.Time { return now }}
	return b
}

// add adds an object of a resource.
func (b *bed) add(t *testing.T, resource, group, version string, object map[string]any) {
	t.Helper()
	u := &unstructured.Unstructured{Object: object}
	apiVersion := version
	if group != "" {
		apiVersion = group + "/" + version
	}
	u.SetAPIVersion(apiVersion)
	at := schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
	if err := b.dynamic.Tracker().Create(at, u, u.GetNamespace()); err != nil {
		t.Fatal(err)
	}
}

func (b *bed) node(t *testing.T, name, ready string) {
	t.Helper()
	b.add(t, "nodes", "", "v1", map[string]any{"kind": "Node", "metadata": map[string]any{"name": name}, "status": map[string]any{
		"conditions": []any{map[string]any{"type": "Ready", "status": ready}},
	}})
}

// collect returns the index and the files of a bundle, by their names below its directory.
func (b *bed) collect(t *testing.T) (*cliv1alpha1.SupportBundle, map[string]string) {
	t.Helper()
	var out bytes.Buffer
	index, err := b.Collect(t.Context(), b.options, func(p engine.Progress) { b.reports = append(b.reports, p.String()) }, &out)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for files := tar.NewReader(z); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return index, found
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		_, name, below := strings.Cut(header.Name, "/")
		if clean := path.Clean(header.Name); !below || clean != header.Name || strings.HasPrefix(clean, ".") || strings.HasPrefix(clean, "/") {
			t.Errorf("the archive has %q", header.Name)
		}
		found[name] = string(content)
	}
}

// failures returns the reasons why journals of hosts are missing, by node.
func failures(index *cliv1alpha1.SupportBundle) map[string]string {
	out := map[string]string{}
	for i := range index.Parts {
		if p := &index.Parts[i]; p.Node != "" && p.Error != nil {
			out[p.Node] = p.Error.Reason
		}
	}
	return out
}

func TestHostsThatCannotBeReadAreListed(t *testing.T) {
	b := newBed(t)
	for name, ready := range map[string]string{"a-old-agent": "True", "b-down": "Unknown", "c-unready": "False", "d-many": "True", "e-many": "True"} {
		b.node(t, name, ready)
	}
	b.options.Limits.Hosts = 3
	index, files := b.collect(t)
	for name, want := range map[string]string{
		"a-old-agent": supportbundle.ReasonPodFailed, "b-down": supportbundle.ReasonNodeUnreachable, "c-unready": supportbundle.ReasonPodFailed,
		"d-many": supportbundle.ReasonHostLimit, "e-many": supportbundle.ReasonHostLimit,
	} {
		if got := failures(index)[name]; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for name, content := range files {
		if strings.Contains(content, "canary") {
			t.Errorf("%s has what a Pod printed", name)
		}
	}
	if pods, err := b.typed.CoreV1().Pods("refit-agent").List(t.Context(), metav1.ListOptions{}); err != nil || len(pods.Items) != 0 {
		t.Errorf("%d Pods remain, %v", len(pods.Items), err)
	}
	b.options.Nodes = []string{"e-many", "absent"}
	index, _ = b.collect(t)
	if got := failures(index); len(got) != 2 || got["absent"] != supportbundle.ReasonNotFound || got["e-many"] != supportbundle.ReasonPodFailed {
		t.Errorf("by name: %v", got)
	}
}

func TestAPodThatIsRefusedOrNeverStartsIsExplained(t *testing.T) {
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "x", errors.New("ValidatingAdmissionPolicy denied the request"))
	for want, change := range map[string]func(*bed){
		supportbundle.ReasonPodRefused: func(b *bed) {
			b.typed.PrependReactor("create", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refused })
		},
		supportbundle.ReasonPodNotStarted: func(b *bed) {
			b.typed.PrependReactor("get", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}, nil
			})
		},
		supportbundle.ReasonNoAgentImage: func(b *bed) {
			if err := b.typed.Tracker().Delete(appsv1.SchemeGroupVersion.WithResource("daemonsets"), "refit-agent", "refit-agent"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(want, func(t *testing.T) {
			b := newBed(t)
			b.node(t, "cp-1", "True")
			change(b)
			index, _ := b.collect(t)
			last := index.Parts[len(index.Parts)-1]
			if last.Error == nil || last.Error.Reason != want || last.Error.Remedy == "" {
				t.Errorf("%+v", last.Error)
			}
		})
	}
}

// The Pods of other runs in progress must survive a run whose clock is ahead.
func TestLeftoversAreJudgedByTheClockOfTheAPIServer(t *testing.T) {
	pod := func(name string, age time.Duration) runtime.Object {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "refit-agent", Name: name, UID: "uid", CreationTimestamp: metav1.NewTime(now.Add(-age)), Labels: map[string]string{"app.kubernetes.io/name": engine.PodName},
		}}
		p.Spec.ActiveDeadlineSeconds = new(int64(90))
		return p
	}
	for situation, skew := range map[string]time.Duration{"the same": 0, "ahead": time.Hour, "behind": -time.Hour} {
		t.Run(situation, func(t *testing.T) {
			b := newBed(t, pod("in-use", 2*time.Minute), pod("left", 3*time.Minute))
			b.node(t, "cp-1", "True")
			b.Now = func() time.Time { return now.Add(skew) }
			b.collect(t)
			pods, err := b.typed.CoreV1().Pods("refit-agent").List(t.Context(), metav1.ListOptions{})
			if err != nil || len(pods.Items) != 1 || pods.Items[0].Name != "in-use" {
				t.Errorf("%d Pods remain, %v", len(pods.Items), err)
			}
		})
	}
}

func TestObjectsAreRedactedBeforeTheyAreWritten(t *testing.T) {
	b := newBed(t)
	b.options.Patterns = []*regexp.Regexp{regexp.MustCompile(`ACME-[0-9]+`)}
	b.add(t, "components", "refit.dev", "v1alpha1", map[string]any{
		"kind": "Component", "metadata": map[string]any{"name": "kueue", "managedFields": []any{map[string]any{"manager": "canary-manager"}}},
		"spec": map[string]any{"values": map[string]any{"license": "canary-value"}, "note": "license ACME-4711"},
	})
	b.add(t, "events", "", "v1", map[string]any{
		"kind": "Event", "metadata": map[string]any{"name": "e", "namespace": "default"}, "message": "Authorization: Bearer canary-0123456789abcdef", "lastTimestamp": now.Format(time.RFC3339),
	})
	b.add(t, "events", "", "v1", map[string]any{
		"kind": "Event", "metadata": map[string]any{"name": "old", "namespace": "default"}, "message": "canary of last week", "lastTimestamp": now.AddDate(0, 0, -7).Format(time.RFC3339),
	})
	index, files := b.collect(t)
	for name, content := range files {
		if strings.Contains(content, "canary") || strings.Contains(content, "ACME-4711") {
			t.Errorf("%s: %s", name, content)
		}
	}
	if !strings.Contains(files["objects/components.yaml"], "kueue") || !strings.Contains(files["events/default.yaml"], "message:") {
		t.Errorf("the objects are missing: %q", files)
	}
	if index.Redactions["component-values"] != 1 {
		t.Errorf("the redactions are %v", index.Redactions)
	}
}

func TestALongListIsCutAtItsLimit(t *testing.T) {
	b := newBed(t)
	b.options.Limits.Host, b.options.Limits.Hosts = 64<<10, 0
	for n := range 100 {
		b.add(t, "nodereports", "refit.dev", "v1alpha1", map[string]any{"kind": "NodeReport", "metadata": map[string]any{"name": fmt.Sprint("n-", n)}, "status": strings.Repeat("words ", 300)})
	}
	index, files := b.collect(t)
	for i := range index.Parts {
		p := &index.Parts[i]
		if p.Path != "objects/nodereports.yaml" {
			continue
		}
		if size := len(files[p.Path]); !p.Truncated || p.Items == 0 || p.Items >= 100 || size > 64<<10 || size < 32<<10 {
			t.Errorf("%d items, %d bytes, truncated: %t", p.Items, size, p.Truncated)
		}
		return
	}
	t.Error("the part is missing")
}

func TestAnInterruptionLeavesNoPod(t *testing.T) {
	b := newBed(t)
	b.node(t, "cp-1", "True")
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("interrupted")
	b.typed.PrependReactor("get", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		cancel(stopped)
		return true, &corev1.Pod{}, nil
	})
	if _, err := b.Collect(ctx, b.options, func(engine.Progress) {}, io.Discard); !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
	if pods, err := b.typed.CoreV1().Pods("refit-agent").List(t.Context(), metav1.ListOptions{}); err != nil || len(pods.Items) != 0 {
		t.Errorf("%d Pods remain, %v", len(pods.Items), err)
	}
}
