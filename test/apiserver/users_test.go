//go:build apiserver

package apiserver

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestANodeIsConfinedToItself(t *testing.T) {
	EachVersion(t, func(t *testing.T, version string) {
		s := sharedOf(t, version)
		admin := clientFor(t, s.RESTConfig())
		for _, name := range []string{"n1", "n2"} {
			_, err := admin.CoreV1().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			must(t, err)
		}
		n1 := clientFor(t, s.As(t, "system:node:n1", "system:nodes"))
		patch := func(node string) error {
			_, err := n1.CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType,
				[]byte(`{"status":{"capacity":{"pods":"10"}}}`), metav1.PatchOptions{}, "status")
			return err
		}
		must(t, patch("n1"))
		if err := patch("n2"); !apierrors.IsForbidden(err) {
			t.Errorf("n1 writes the status of n2: %v", err)
		}
		if _, err := n1.CoreV1().Secrets("kube-system").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("a node lists secrets: %v", err)
		}
		if _, err := n1.CoreV1().Nodes().Patch(t.Context(), "n1", types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"node-restriction.kubernetes.io/zone":"a"}}}`), metav1.PatchOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("the plugin NodeRestriction is off: %v", err)
		}
	})
}

func TestAUserWithoutRolesIsForbiddenEverything(t *testing.T) {
	s := sharedOf(t, Versions(t)[0])
	_, err := clientFor(t, s.As(t, "jane")).CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"jane"`) {
		t.Errorf("the server says %v", err)
	}
}

func TestAnotherProcessIsTheUserOfItsKubeconfig(t *testing.T) {
	s := sharedOf(t, Versions(t)[0])
	kubeconfig := s.Kubeconfig(t, s.As(t, "kate", "cooks"))
	info, err := os.Stat(kubeconfig)
	must(t, err)
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the file's mode is %o", mode)
	}
	if out := kubectl(t, s, kubeconfig, "auth", "whoami"); !strings.Contains(out, "kate") || !strings.Contains(out, "cooks") {
		t.Errorf("it is %s", out)
	}
}
