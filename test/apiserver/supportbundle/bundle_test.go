//go:build apiserver

package supportbundle

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	engine "github.com/refit-dev/refit/internal/engine/supportbundle"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
	"github.com/refit-dev/refit/test/apiserver"
)

// TestABundleHasNoSecrets plants secrets wherever a bundle reads. Each was collected: what replaces
// it is in the bundle.
func TestABundleHasNoSecrets(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		k := newBed(t, version).startKubelets(t)
		k.plant(t)
		k.run(t)
		index, content := k.collect(t, time.Now)
		if len(plants) < 20 {
			t.Errorf("there are %d secrets", len(plants))
		}
		for number, p := range plants {
			if strings.Contains(content, p.secret) {
				t.Errorf("the secret %d is in the bundle", number)
			}
			if !strings.Contains(content, p.shown) {
				t.Errorf("the secret %d was not collected: the bundle does not have %q, but %s", number, p.shown, around(content, number))
			}
		}
		for _, other := range []string{"c4nary", "ACME-47", "C4NARY"} {
			if at := strings.Index(content, other); at >= 0 {
				t.Errorf("the bundle has %s: …%q", other, content[max(0, at-200):at+40])
			}
		}
		if !strings.Contains(content, "the last line") {
			t.Error("the log of the controller is not complete")
		}
		t.Run("what is missing is listed", func(t *testing.T) { missing(t, index) })
		t.Run("the Pods are deleted", func(t *testing.T) { k.noPods(t) })
		t.Run("the Pods can do nothing else", func(t *testing.T) { k.guarded(t) })
		t.Run("a Pod of another run is not deleted while it may be in use", func(t *testing.T) { k.leftover(t) })
	})
}

// around returns the text of the bundle around a plant.
func around(content string, number int) string {
	at := strings.Index(strings.ToLower(content), fmt.Sprintf("plant-%02d", number))
	if at < 0 {
		return "nothing of it"
	}
	return fmt.Sprintf("%q", content[at:min(len(content), at+120)])
}

// reasons returns the reasons of what is missing, by node and source.
func reasons(index *cliv1alpha1.SupportBundle) map[string]string {
	out := map[string]string{}
	for _, p := range index.Parts {
		if p.Error != nil {
			out[strings.TrimPrefix(p.Node+" "+p.Source, " ")] = p.Error.Reason + ": " + p.Error.Message
		}
	}
	return out
}

// missing proves that the host that is down is listed, and that the permissions of the example
// suffice for the rest.
func missing(t *testing.T, index *cliv1alpha1.SupportBundle) {
	t.Helper()
	found := reasons(index)
	for source, want := range map[string]string{
		"worker-1 journals of the host": supportbundle.ReasonPodNotStarted, "worker-2 journals of the host": supportbundle.ReasonNodeUnreachable,
	} {
		if !strings.HasPrefix(found[source], want+": ") {
			t.Errorf("%s: %q, want %s", source, found[source], want)
		}
		delete(found, source)
	}
	for source, reason := range found {
		// Without refit-components there is no such namespace to bind permissions in.
		if !strings.Contains(source, "refit-components") {
			t.Errorf("%s is missing: %s", source, reason)
		}
	}
	if index.Operation != "to-v1-36-3" || index.Redactions["configured"] < 2 {
		t.Errorf("the index is %+v", index)
	}
}

func (k *kubelets) noPods(t *testing.T) {
	t.Helper()
	created := k.created()
	if len(created) != 2 { // not on the host that is down
		t.Errorf("%d Pods were created", len(created))
	}
	for _, pod := range created {
		now, err := k.admin.CoreV1().Pods(pod.Namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) && (err != nil || now.DeletionTimestamp == nil) {
			t.Errorf("the Pod %s of %s remains: %v", pod.Name, pod.Spec.NodeName, err)
		}
	}
}

// submitted is a Pod as the collector has sent it.
func submitted(pod *corev1.Pod) *corev1.Pod {
	out := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: pod.GenerateName, Namespace: pod.Namespace, Labels: pod.Labels}, Spec: *pod.Spec.DeepCopy()}
	out.Spec.NodeName = "cp-1"
	return out
}

// guarded proves that admission refuses every other Pod to the same user.
func (k *kubelets) guarded(t *testing.T) {
	t.Helper()
	const (
		container = "must have one container, which runs " + image
		ends      = "must have no token of a ServiceAccount and a deadline"
		mounts    = "may mount only /var/log and /run/log, read-only"
		spaces    = "may use no namespace of the host"
	)
	first := k.created()[0]
	for situation, c := range map[string]struct {
		change func(*corev1.PodSpec)
		says   string // empty: it is admitted
	}{
		"as it is":           {func(*corev1.PodSpec) {}, ""},
		"another image":      {func(s *corev1.PodSpec) { s.Containers[0].Image = "evil.example/x" }, container},
		"a command":          {func(s *corev1.PodSpec) { s.Containers[0].Command = []string{"sh"} }, container},
		"another argument":   {func(s *corev1.PodSpec) { s.Containers[0].Args = append(s.Containers[0].Args, "--settings=/x") }, container},
		"another subcommand": {func(s *corev1.PodSpec) { s.Containers[0].Args = []string{"place", "host-bundle"} }, container},
		"an environment":     {func(s *corev1.PodSpec) { s.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "b"}} }, container},
		"a hook": {func(s *corev1.PodSpec) {
			s.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"x"}}}}
		}, container},
		"privileged": {func(s *corev1.PodSpec) {
			s.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
		}, container},
		"a capability": {func(s *corev1.PodSpec) {
			s.Containers[0].SecurityContext.Capabilities.Add = []corev1.Capability{"SYS_ADMIN"}
		}, container},
		"all capabilities": {func(s *corev1.PodSpec) { s.Containers[0].SecurityContext.Capabilities = nil }, container},
		"a writable root":  {func(s *corev1.PodSpec) { s.Containers[0].SecurityContext.ReadOnlyRootFilesystem = nil }, container},
		"a second container": {func(s *corev1.PodSpec) {
			s.Containers = append(s.Containers, corev1.Container{Name: "b", Image: image, Args: []string{"pause"}})
		}, container},
		"an init container": {func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "b", Image: image, Args: []string{"remove", "--host", "/host"}}}
		}, container},
		"a token":           {func(s *corev1.PodSpec) { s.AutomountServiceAccountToken = nil }, ends},
		"no deadline":       {func(s *corev1.PodSpec) { s.ActiveDeadlineSeconds = nil }, ends},
		"a long deadline":   {func(s *corev1.PodSpec) { s.ActiveDeadlineSeconds = new(int64(86400)) }, ends},
		"a restart":         {func(s *corev1.PodSpec) { s.RestartPolicy = corev1.RestartPolicyAlways }, ends},
		"a writable mount":  {func(s *corev1.PodSpec) { s.Containers[0].VolumeMounts[0].ReadOnly = false }, mounts},
		"another directory": {func(s *corev1.PodSpec) { s.Volumes[0].HostPath.Path = "/etc" }, mounts},
		"a created one":     {func(s *corev1.PodSpec) { s.Volumes[0].HostPath.Type = new(corev1.HostPathDirectoryOrCreate) }, mounts},
		"a Secret": {func(s *corev1.PodSpec) {
			s.Volumes = append(s.Volumes, corev1.Volume{Name: "s", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "x"}}})
		}, mounts},
		"a projected token": {func(s *corev1.PodSpec) {
			s.ServiceAccountName = "default"
			s.Volumes = append(s.Volumes, corev1.Volume{Name: "t", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{
				ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"},
			}}}}})
		}, mounts},
		"a mount at another path": {func(s *corev1.PodSpec) { s.Containers[0].VolumeMounts[0].MountPath = "/bin" }, mounts},
		"processes of the host":   {func(s *corev1.PodSpec) { s.HostPID = true }, spaces},
		"the network of the host": {func(s *corev1.PodSpec) { s.HostNetwork = true }, spaces},
		"the IPC of the host":     {func(s *corev1.PodSpec) { s.HostIPC = true }, spaces},
	} {
		pod := submitted(&first)
		c.change(&pod.Spec)
		err := try(t, k.user, pod)
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", situation, err)
		case c.says != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want %q", situation, err, c.says)
		}
	}
	controller, err := kubernetes.NewForConfig(k.As(t, "system:serviceaccount:refit-system:refit-controller", "system:masters"))
	must(t, err)
	if err := try(t, controller, submitted(&first)); !apierrors.IsForbidden(err) {
		t.Errorf("as the controller: %v", err)
	}
}

// try creates a Pod as a dry run.
func try(t *testing.T, client kubernetes.Interface, pod *corev1.Pod) error {
	t.Helper()
	_, err := client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// leftover leaves a Pod, as a run does that was killed.
func (k *kubelets) leftover(t *testing.T) {
	t.Helper()
	first := k.created()[0]
	left, err := k.user.CoreV1().Pods(first.Namespace).Create(t.Context(), submitted(&first), metav1.CreateOptions{})
	must(t, err)
	remains := func() bool {
		pods, err := k.admin.CoreV1().Pods(first.Namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=" + engine.PodName})
		must(t, err)
		return slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return p.Name == left.Name && p.DeletionTimestamp == nil })
	}
	k.collect(t, time.Now)
	if !remains() {
		t.Error("a Pod that may be in use is deleted")
	}
	k.collect(t, func() time.Time { return time.Now().Add(time.Hour) })
	if !remains() {
		t.Error("a Pod that may be in use is deleted by a run whose clock is ahead")
	}
}
