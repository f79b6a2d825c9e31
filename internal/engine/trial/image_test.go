package trial

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestThePodNamesThePullSecretsOfTheAgents(t *testing.T) {
	secret := func(name string) []corev1.LocalObjectReference { return []corev1.LocalObjectReference{{Name: name}} }
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: agentNamespace, Name: agentName}, ImagePullSecrets: secret("of-account")}
	for situation, tt := range map[string]struct {
		change    func(*appsv1.DaemonSet)
		account   *corev1.ServiceAccount
		forbidden bool
		want      []corev1.LocalObjectReference
	}{
		"a public registry":                    {func(*appsv1.DaemonSet) {}, &corev1.ServiceAccount{ObjectMeta: account.ObjectMeta}, false, nil},
		"secrets of the DaemonSet":             {func(s *appsv1.DaemonSet) { s.Spec.Template.Spec.ImagePullSecrets = secret("of-set") }, account, false, secret("of-set")},
		"secrets of the ServiceAccount":        {func(*appsv1.DaemonSet) {}, account, false, secret("of-account")},
		"no ServiceAccount":                    {func(s *appsv1.DaemonSet) { s.Spec.Template.Spec.ServiceAccountName = "" }, account, false, nil},
		"no permission, as of an earlier role": {func(*appsv1.DaemonSet) {}, account, true, nil},
	} {
		t.Run(situation, func(t *testing.T) {
			set := agents()
			set.Spec.Template.Spec.ServiceAccountName = agentName
			tt.change(set)
			client := fake.NewClientset(set, tt.account)
			if tt.forbidden {
				client.PrependReactor("get", "serviceaccounts", func(clienttesting.Action) (bool, runtime.Object, error) {
					return true, nil, apierrors.NewForbidden(corev1.Resource("serviceaccounts"), agentName, nil)
				})
			}
			from, err := New(client).source(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := podOf("n1", 7, from).Spec; !slices.Equal(got.ImagePullSecrets, tt.want) || got.Containers[0].Image != "registry.example/refit-agent:v0.1.0" {
				t.Errorf("the image %s is pulled with %v, want %v", got.Containers[0].Image, got.ImagePullSecrets, tt.want)
			}
		})
	}
}
