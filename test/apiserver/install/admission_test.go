//go:build apiserver

package install

import (
	"context"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/refit-dev/refit/test/apiserver"
)

// controllerUser is the user name of the controller.
const controllerUser = "system:serviceaccount:refit-system:refit-controller"

var controllerGroups = []string{"system:serviceaccounts", "system:serviceaccounts:refit-system"}

func (b *bed) as(t *testing.T, user string, groups ...string) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(b.As(t, user, groups...))
	must(t, err)
	return client
}

// try creates a pod as a dry run.
func try(t *testing.T, client kubernetes.Interface, pod *corev1.Pod) error {
	t.Helper()
	_, err := client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

func (b *bed) agents(t *testing.T) *appsv1.DaemonSet {
	t.Helper()
	set, err := b.client.AppsV1().DaemonSets("refit-agent").Get(t.Context(), "refit-agent", metav1.GetOptions{})
	must(t, err)
	return set
}

// enforced waits until a policy refuses a request: the server enforces it with a delay.
func (b *bed) enforced(t *testing.T) {
	t.Helper()
	bad := podOf(b.agents(t), "n1")
	bad.Spec.HostPID = true
	for deadline := time.Now().Add(checkTimeout); ; time.Sleep(100 * time.Millisecond) {
		err := try(t, b.client, bad)
		if apierrors.IsForbidden(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the policy is not enforced: %v", err)
		}
	}
}

func TestAdmissionOfAgents(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		b := newBed(t, version)
		b.apply(t, options(), false)
		b.enforced(t)
		t.Run("in refit-system the strictest Pod Security holds, and the controller fits it", func(t *testing.T) { b.restricted(t) })
		t.Run("in refit-trial it holds for the controller, too", func(t *testing.T) { b.tries(t) })
		t.Run("in refit-agent only pods that place or remove agents are let in", func(t *testing.T) { b.guarded(t) })
		t.Run("nobody connects to a pod in refit-agent", func(t *testing.T) { b.connects(t) })
		t.Run("the controller gets no pod in, even with every right", func(t *testing.T) { b.keptOut(t) })
		t.Run("labels of a pod of a former image may change, its image may not", func(t *testing.T) { b.updates(t) })
	})
}

func (b *bed) restricted(t *testing.T) {
	t.Helper()
	deployment, err := b.client.AppsV1().Deployments("refit-system").Get(t.Context(), "refit-controller", metav1.GetOptions{})
	must(t, err)
	fits := &corev1.Pod{ObjectMeta: deployment.Spec.Template.ObjectMeta, Spec: deployment.Spec.Template.Spec}
	fits.Name, fits.Namespace = "controller", "refit-system"
	if err := try(t, b.client, fits); err != nil {
		t.Errorf("the controller's pod: %v", err)
	}
	privileged := fits.DeepCopy()
	privileged.Spec.Containers[0].SecurityContext.Privileged = new(true)
	privileged.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil
	agent := podOf(b.agents(t), "n1")
	agent.Namespace = "refit-system"
	for name, pod := range map[string]*corev1.Pod{"a privileged pod": privileged, "the pod that places agents": agent} {
		if err := try(t, b.client, pod); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "PodSecurity") {
			t.Errorf("%s in refit-system: %v", name, err)
		}
	}
}

// tries proves that the controller can only create Pods in refit-trial that meet the restricted Pod
// Security standard. The Pod that it does create is tested in test/apiserver/trial.
func (b *bed) tries(t *testing.T) {
	t.Helper()
	controller := b.as(t, controllerUser, controllerGroups...)
	agent := podOf(b.agents(t), "n1")
	agent.Namespace = "refit-trial"
	plain := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "refit-trial", Name: "n1"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "try", Image: "x"}}},
	}
	for deadline := time.Now().Add(checkTimeout); !b.may(t, "create core/pods refit-trial/") && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond) // RBAC observes a binding with a delay
	}
	for name, pod := range map[string]*corev1.Pod{"the pod that places agents": agent, "a pod that may be root": plain} {
		if err := try(t, controller, pod); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "PodSecurity") {
			t.Errorf("%s in refit-trial: %v", name, err)
		}
	}
}

func (b *bed) guarded(t *testing.T) {
	t.Helper()
	set := b.agents(t)
	if err := try(t, b.client, podOf(set, "n1")); err != nil {
		t.Errorf("the pod that places agents: %v", err)
	}
	const (
		owner   = "only pods of the DaemonSets"
		spaces  = "may use no namespace of the host"
		init    = "must have one init container"
		mounts  = "may mount only the volumes of refit install"
		pause   = "must have one container"
		volumes = "may mount only the host's root directory"
	)
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		says   string // empty: it is admitted
	}{
		"one that removes": {func(p *corev1.Pod) {
			p.OwnerReferences[0].Name, p.Spec.InitContainers[0].Args = "refit-remove", []string{"remove", "--host", "/host"}
			p.Spec.InitContainers[0].VolumeMounts, p.Spec.Volumes = p.Spec.InitContainers[0].VolumeMounts[:1], p.Spec.Volumes[:1]
		}, ""},
		"one that removes, with the keys": {func(p *corev1.Pod) {
			p.OwnerReferences[0].Name, p.Spec.InitContainers[0].Args = "refit-remove", []string{"remove", "--host", "/host"}
		}, mounts},
		"keys from the host":        {func(p *corev1.Pod) { p.Spec.InitContainers[0].VolumeMounts[1].Name = "host" }, mounts},
		"another path for the host": {func(p *corev1.Pod) { p.Spec.InitContainers[0].VolumeMounts[0].MountPath = "/" }, mounts},
		"a part of the host":        {func(p *corev1.Pod) { p.Spec.InitContainers[0].VolumeMounts[0].SubPath = "tmp" }, mounts},
		"a mount that the host sees": {func(p *corev1.Pod) {
			p.Spec.InitContainers[0].VolumeMounts[0].MountPropagation = new(corev1.MountPropagationBidirectional)
		}, mounts},
		"one mount more": {func(p *corev1.Pod) {
			p.Spec.InitContainers[0].VolumeMounts = append(p.Spec.InitContainers[0].VolumeMounts, corev1.VolumeMount{Name: "host", MountPath: "/bin"})
		}, mounts},
		"no mount of the keys": {func(p *corev1.Pod) { p.Spec.InitContainers[0].VolumeMounts = p.Spec.InitContainers[0].VolumeMounts[:1] }, mounts},
		"volumes that changed their names": {func(p *corev1.Pod) {
			p.Spec.Volumes[0].Name, p.Spec.Volumes[1].Name = p.Spec.Volumes[1].Name, p.Spec.Volumes[0].Name
		}, volumes},
		"of nobody":         {func(p *corev1.Pod) { p.OwnerReferences = nil }, owner},
		"of another set":    {func(p *corev1.Pod) { p.OwnerReferences[0].Name = "mine" }, owner},
		"of another kind":   {func(p *corev1.Pod) { p.OwnerReferences[0].Kind = "ReplicaSet" }, owner},
		"not controlled":    {func(p *corev1.Pod) { p.OwnerReferences[0].Controller = new(false) }, owner},
		"host's processes":  {func(p *corev1.Pod) { p.Spec.HostPID = true }, spaces},
		"host's network":    {func(p *corev1.Pod) { p.Spec.HostNetwork = true }, spaces},
		"host's IPC":        {func(p *corev1.Pod) { p.Spec.HostIPC = true }, spaces},
		"another image":     {func(p *corev1.Pod) { p.Spec.InitContainers[0].Image = "evil.example/refit-agent:v0.1.0" }, init},
		"another command":   {func(p *corev1.Pod) { p.Spec.InitContainers[0].Command = []string{"sh"} }, init},
		"other arguments":   {func(p *corev1.Pod) { p.Spec.InitContainers[0].Args[2] = "/host/x" }, init},
		"more arguments":    {func(p *corev1.Pod) { p.Spec.InitContainers[0].Args = append(p.Spec.InitContainers[0].Args, "--force") }, init},
		"an environment":    {func(p *corev1.Pod) { p.Spec.InitContainers[0].Env = []corev1.EnvVar{{Name: "A", Value: "b"}} }, init},
		"no init container": {func(p *corev1.Pod) { p.Spec.InitContainers = nil }, init},
		"two of them": {func(p *corev1.Pod) {
			p.Spec.InitContainers = append(p.Spec.InitContainers, *named(&p.Spec.InitContainers[0]))
		}, init},
		"one that stays": {func(p *corev1.Pod) {
			p.Spec.InitContainers[0].RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		}, init},
		"another to pause":   {func(p *corev1.Pod) { p.Spec.Containers[0].Image = "evil.example/x" }, pause},
		"it does not pause":  {func(p *corev1.Pod) { p.Spec.Containers[0].Args = []string{"place", "--host", "/"} }, pause},
		"a second container": {func(p *corev1.Pod) { p.Spec.Containers = append(p.Spec.Containers, *named(&p.Spec.Containers[0])) }, pause},
		"a mighty pause": {func(p *corev1.Pod) {
			p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
		}, pause},
		"a pause that may rise": {func(p *corev1.Pod) { p.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil }, pause},
		"a pause as root":       {func(p *corev1.Pod) { p.Spec.Containers[0].SecurityContext.RunAsNonRoot = nil }, pause},
		"a pause with the host": {func(p *corev1.Pod) {
			p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "host", MountPath: "/host"}}
		}, pause},
		"a pause with a capability": {func(p *corev1.Pod) {
			p.Spec.Containers[0].SecurityContext.Capabilities.Add = []corev1.Capability{"SYS_ADMIN"}
		}, pause},
		"another path":         {func(p *corev1.Pod) { p.Spec.Volumes[0].HostPath.Path = "/etc" }, volumes},
		"a secret":             {func(p *corev1.Pod) { p.Spec.Volumes = append(p.Spec.Volumes, secret) }, volumes},
		"another ConfigMap":    {func(p *corev1.Pod) { p.Spec.Volumes[1].ConfigMap.Name = "mine" }, volumes},
		"a token of the pod's": {func(p *corev1.Pod) { p.Spec.Volumes = append(p.Spec.Volumes, token) }, volumes},
	} {
		pod := podOf(set, "n1")
		c.change(pod)
		err := try(t, b.client, pod)
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.says != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want %q in it", name, err, c.says)
		}
	}
}

// connects proves that nobody can run a command in a pod that is root on its host, or reach it.
func (b *bed) connects(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(checkTimeout) // a policy is enforced with a delay
	for resource, options := range map[string]runtime.Object{
		"exec": &corev1.PodExecOptions{Container: "place", Command: []string{"sh"}}, "attach": &corev1.PodAttachOptions{Container: "place"},
		"portforward": &corev1.PodPortForwardOptions{Ports: []int32{80}}, "proxy": &corev1.PodProxyOptions{Path: "/"},
	} {
		var err error
		for ; time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
			err = b.client.CoreV1().RESTClient().Post().Namespace("refit-agent").Resource("pods").Name("n1").SubResource(resource).
				VersionedParams(options, clientgoscheme.ParameterCodec).Do(t.Context()).Error()
			if apierrors.IsForbidden(err) {
				break
			}
		}
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "nobody may connect to a pod in the namespace refit-agent") {
			t.Errorf("%s: %v", resource, err)
		}
	}
}

var (
	secret = corev1.Volume{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "x"}}}
	token  = corev1.Volume{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{
		ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"},
	}}}}}
)

func named(c *corev1.Container) *corev1.Container {
	c = c.DeepCopy()
	c.Name = "second"
	return c
}

// keptOut grants the controller all permissions first: the policy must hold even if RBAC does not.
func (b *bed) keptOut(t *testing.T) {
	t.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "test-everything"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "refit-system", Name: "refit-controller"}},
	}
	_, err := b.client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		//nolint:usetesting // the test's own context is over
		must(t, b.client.RbacV1().ClusterRoleBindings().Delete(context.Background(), binding.Name, metav1.DeleteOptions{}))
	})
	controller := b.as(t, controllerUser, controllerGroups...)
	for deadline := time.Now().Add(checkTimeout); ; time.Sleep(50 * time.Millisecond) { // until RBAC observes the binding
		_, err := controller.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	if err := try(t, controller, podOf(b.agents(t), "n1")); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "the controller may not create pods") {
		t.Errorf("%v", err)
	}
}

func (b *bed) updates(t *testing.T) {
	t.Helper()
	pods := b.client.CoreV1().Pods("refit-agent")
	made, err := pods.Create(t.Context(), podOf(b.agents(t), "n1"), metav1.CreateOptions{})
	must(t, err)
	newer := options()
	newer.Agent = "registry.example/refit-agent:v0.2.0"
	b.apply(t, newer, false)
	for deadline := time.Now().Add(checkTimeout); try(t, b.client, podOf(b.agents(t), "n1")) != nil; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the policy never took up the newer image")
		}
	}
	made.Labels["note"] = "x"
	made, err = pods.Update(t.Context(), made, metav1.UpdateOptions{})
	must(t, err)
	other := made.DeepCopy()
	other.Spec.Containers[0].Image = "evil.example/x"
	if _, err := pods.Update(t.Context(), other, metav1.UpdateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("another image: %v", err)
	}
	debug := made.DeepCopy()
	debug.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "busybox"}}}
	if _, err := pods.UpdateEphemeralContainers(t.Context(), made.Name, debug, metav1.UpdateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("an ephemeral container: %v", err)
	}
}
