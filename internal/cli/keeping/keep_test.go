package keeping

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

const configuration = "apiServer: {}\napiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.35.4\n"

// agents is a cluster of three control plane nodes whose API servers have a flag that kubeadm does
// not render. Once the configuration was changed, the silent agents do not answer.
func agents(t *testing.T, silent ...string) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, refitv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	objects := []client.Object{&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "kubeadm-config"}, Data: map[string]string{"ClusterConfiguration": configuration},
	}}
	for _, node := range []string{"cp-1", "cp-2", "cp-3"} {
		objects = append(
			objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}}},
			&refitv1alpha1.NodeReport{ObjectMeta: metav1.ObjectMeta{Name: node}},
			&corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: metav1.NamespaceSystem, Name: "kube-apiserver-" + node, Annotations: map[string]string{corev1.MirrorPodAnnotationKey: "0"},
				},
				Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{
					Name: "kube-apiserver", Command: []string{"kube-apiserver", "--tls-min-version=VersionTLS13"},
				}}},
			},
		)
	}
	answer := func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
		if err := c.Get(ctx, key, o, options...); err != nil {
			return err
		}
		report, is := o.(*refitv1alpha1.NodeReport)
		if !is {
			return nil
		}
		config := &corev1.ConfigMap{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "kubeadm-config"}, config); err != nil {
			return err
		}
		changed := config.Data["ClusterConfiguration"] != configuration
		if changed && slices.Contains(silent, key.Name) {
			return nil
		}
		report.Status.Answered, report.Status.Drift = report.Spec.Request, &refitv1alpha1.DriftFacts{Known: true}
		if !changed {
			report.Status.Drift.SecuritySettings = []string{"kube-apiserver --tls-min-version"}
		}
		return nil
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{Get: answer}).Build()
}

// run runs the command, and returns the lines that it prints while it waits.
func run(t *testing.T, c client.Client) (result *cliv1alpha1.Keep, lines string, err error) {
	t.Helper()
	var printed strings.Builder
	k := &Keeper{Confirmed: true, Out: io.Discard, Err: &printed, Page: text.Page{Width: 100}, Changing: func() {}}
	list := func(context.Context) ([]refitv1alpha1.ClusterUpgrade, error) { return nil, nil }
	result, err = k.Keep(t.Context(), Cluster{Client: c, Name: "prod", Now: time.Now, List: list}, "cp-1")
	return result, printed.String(), err
}

func TestAgentsThatDoNotReportAfterTheChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		result, lines, err := run(t, agents(t, "cp-2", "cp-3"))
		if took := time.Since(start); took > reportTimeout+time.Second {
			t.Errorf("it waits for %s", took)
		}
		const want = "Waiting at most 2m0s for a report of the agent on cp-1\nWaiting at most 2m0s for a report of the agent on cp-1, cp-2 and cp-3\n"
		if lines != want {
			t.Errorf("while it waits it prints %q, want %q", lines, want)
		}
		if err == nil || !strings.Contains(err.Error(), "was changed, but that could not be verified on cp-2 and cp-3") {
			t.Errorf("the error is %v", err)
		}
		if result == nil || !result.Changed || len(result.Unverified) != 2 {
			t.Fatalf("the result is %+v", result)
		}
		u := result.Unverified[0]
		if u.Node != "cp-2" || u.Reason != "the agent on cp-2 did not report within 2m0s" || !strings.Contains(u.Remedy, "`refit keep cp-1`") {
			t.Errorf("got %+v", u)
		}
	})
}

func TestAgentsThatConfirmTheChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result, _, err := run(t, agents(t))
		if err != nil || result == nil || !result.Changed || len(result.Unverified) > 0 {
			t.Errorf("%+v, %v", result, err)
		}
	})
}
