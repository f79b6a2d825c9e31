//go:build apiserver

package install

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/refit-dev/refit/internal/engine/install"
	"github.com/refit-dev/refit/test/apiserver"
)

// TestInstalls starts with an empty cluster and installs several times.
func TestInstalls(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		b := newBed(t, version)
		all := len(render(t, options()))
		t.Run("a dry run into an empty cluster says what would come, and brings nothing", func(t *testing.T) {
			_, counts := b.apply(t, options(), true)
			if counts[install.Created] != all || len(counts) != 1 {
				t.Errorf("%v of %d", counts, all)
			}
			if left := b.labeled(t); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
		t.Run("everything comes, and is there", func(t *testing.T) {
			_, counts := b.apply(t, options(), false)
			if counts[install.Created] != all || len(counts) != 1 {
				t.Errorf("%v of %d", counts, all)
			}
			if got := b.labeled(t); len(got) != all+1 { // and the inventory
				t.Errorf("%d of %d are there", len(got), all+1)
			}
			existing, err := b.Existing(t.Context())
			must(t, err)
			if existing.Version != "v0.1.0" || existing.Repository != "registry.example" || existing.Keys["one.pem"] != "key" || existing.Settings != options().Settings {
				t.Errorf("%+v", existing)
			}
		})
		t.Run("a second install changes nothing at all", func(t *testing.T) {
			before := b.labeled(t)
			_, counts := b.apply(t, options(), false)
			if counts[install.Unchanged] != all || len(counts) != 1 {
				t.Errorf("%v", counts)
			}
			if after := b.labeled(t); !maps.Equal(before, after) {
				t.Errorf("versions were %v and are %v", before, after)
			}
		})
		t.Run("a dry run of another image names what would change, and changes nothing", func(t *testing.T) {
			before := b.labeled(t)
			newer := options()
			newer.Agent = "registry.example/refit-agent:v0.2.0"
			changes, counts := b.apply(t, newer, true)
			if counts[install.Changed] != 2 || counts[install.Unchanged] != all-2 {
				t.Errorf("%v", counts)
			}
			for _, c := range changes {
				if c.Action != install.Changed {
					continue
				}
				fields := strings.Join(c.Fields, " ")
				policy := c.Kind == "ValidatingAdmissionPolicy" && fields == "spec.variables[0].expression"
				set := c.Kind == "DaemonSet" && strings.Contains(fields, "spec.template.spec.initContainers[0].image")
				if !policy && !set {
					t.Errorf("%s: %s", c.Ref, fields)
				}
			}
			if after := b.labeled(t); !maps.Equal(before, after) {
				t.Error("it changed something")
			}
		})
		t.Run("what somebody changed of ours is ours again, and what is theirs stays", func(t *testing.T) { b.drift(t) })
		t.Run("a standalone install takes the controller away, and nothing that is not ours", func(t *testing.T) { b.prune(t) })
		t.Run("an operation that is unfinished keeps an install away", func(t *testing.T) { b.busy(t) })
	})
}

func (b *bed) drift(t *testing.T) {
	t.Helper()
	deployments, budgets := b.client.AppsV1().Deployments("refit-system"), b.client.PolicyV1().PodDisruptionBudgets("refit-system")
	_, err := deployments.Patch(t.Context(), "refit-controller", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"team":"theirs"}},"spec":{"replicas":5}}`), metav1.PatchOptions{FieldManager: "somebody"})
	must(t, err)
	must(t, budgets.Delete(t.Context(), "refit-controller", metav1.DeleteOptions{}))
	changes, counts := b.apply(t, options(), false)
	if counts[install.Changed] != 1 || counts[install.Created] != 1 {
		t.Errorf("%v", counts)
	}
	for _, c := range changes {
		if c.Action == install.Changed && strings.Join(c.Fields, " ") != "spec.replicas" {
			t.Errorf("%s: %v", c.Ref, c.Fields)
		}
	}
	got, err := deployments.Get(t.Context(), "refit-controller", metav1.GetOptions{})
	must(t, err)
	if *got.Spec.Replicas != 2 || got.Labels["team"] != "theirs" {
		t.Errorf("%d replicas, labels %v", *got.Spec.Replicas, got.Labels)
	}
}

// prune also has an inventory to which foreign objects were added, and an object that has another
// owner now.
func (b *bed) prune(t *testing.T) {
	t.Helper()
	maps := b.client.CoreV1().ConfigMaps("kube-system")
	_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "precious"}}, metav1.CreateOptions{})
	must(t, err)
	inventory, err := b.client.CoreV1().ConfigMaps("refit-system").Get(t.Context(), "refit-install", metav1.GetOptions{})
	must(t, err)
	inventory.Data["objects"] += "v1 configmaps kube-system/precious\nv1 namespaces /kube-system\nexample.dev/v1 things /gone\n"
	_, err = b.client.CoreV1().ConfigMaps("refit-system").Update(t.Context(), inventory, metav1.UpdateOptions{FieldManager: "somebody"})
	must(t, err)
	_, err = b.client.PolicyV1().PodDisruptionBudgets("refit-system").Patch(t.Context(), "refit-controller", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"app.kubernetes.io/managed-by":"somebody"}}}`), metav1.PatchOptions{})
	must(t, err)

	standalone := options()
	standalone.Standalone = true
	for _, dryRun := range []bool{true, false} {
		changes, counts := b.apply(t, standalone, dryRun)
		var removed, left []string
		for _, c := range changes {
			switch c.Action {
			case install.Removed:
				removed = append(removed, c.String())
			case install.Left:
				left = append(left, c.String())
			}
		}
		slices.Sort(removed)
		slices.Sort(left)
		want := []string{
			"ClusterRole refit-controller", "ClusterRole refit-scheduler", "ClusterRoleBinding refit-controller", "ClusterRoleBinding refit-scheduler",
			"Deployment refit-system/refit-controller", "Role kube-system/refit-controller",
			"Role refit-agent/refit-controller", "Role refit-system/refit-controller", "Role refit-trial/refit-controller", "RoleBinding kube-system/refit-controller",
			"RoleBinding refit-agent/refit-controller", "RoleBinding refit-system/refit-controller", "RoleBinding refit-trial/refit-controller",
			"ServiceAccount refit-system/refit-controller", "ServiceAccount refit-system/refit-scheduler",
		}
		if !slices.Equal(removed, want) || !slices.Equal(left, []string{"ConfigMap kube-system/precious", "PodDisruptionBudget refit-system/refit-controller"}) {
			t.Errorf("removed %v, left %v", removed, left)
		}
		if counts[install.Changed]+counts[install.Created] > 0 {
			t.Errorf("%v", counts)
		}
		_, err := b.client.AppsV1().Deployments("refit-system").Get(t.Context(), "refit-controller", metav1.GetOptions{})
		if gone := apierrors.IsNotFound(err); gone == dryRun {
			t.Errorf("dry run %v: the Deployment is gone: %v", dryRun, gone)
		}
	}
	_, err = maps.Get(t.Context(), "precious", metav1.GetOptions{})
	must(t, err)
	// Foreign objects are no longer reported.
	if changes, _ := b.apply(t, standalone, false); slices.ContainsFunc(changes, func(c install.Change) bool { return c.Action != install.Unchanged }) {
		t.Errorf("%v", changes)
	}
}

func (b *bed) busy(t *testing.T) {
	t.Helper()
	b.operation(t, "ended", "True", "Succeeded")
	b.operation(t, "aborted", "False", "Aborted")
	b.apply(t, options(), false)
	b.operation(t, "autumn", "False", "Progressing")
	before := b.labeled(t)
	for _, dryRun := range []bool{true, false} {
		newer := options()
		newer.Version, newer.Agent = "v0.2.0", "registry.example/refit-agent:v0.2.0"
		_, err := b.Apply(t.Context(), render(t, newer), newer.Version, dryRun, install.Callbacks{})
		if !errors.Is(err, install.ErrBusy) || !strings.Contains(err.Error(), "autumn is unfinished") {
			t.Errorf("%v", err)
		}
	}
	if _, err := b.Remove(t.Context(), options(), install.Callbacks{}); !errors.Is(err, install.ErrBusy) {
		t.Errorf("%v", err)
	}
	if after := b.labeled(t); !maps.Equal(before, after) {
		t.Error("something has changed")
	}
}

// TestAForeignNamespaceIsNotAdopted prevents data loss: uninstalling Refit deletes its
// namespace, and everything in it.
func TestAForeignNamespaceIsNotAdopted(t *testing.T) {
	b := newBed(t, apiserver.Versions(t)[0])
	_, err := b.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "refit-agent"}}, metav1.CreateOptions{})
	must(t, err)
	_, err = b.Apply(t.Context(), render(t, options()), "v0.1.0", false, install.Callbacks{})
	if err == nil || !strings.Contains(err.Error(), "kubectl label namespace refit-agent app.kubernetes.io/managed-by=refit-install") {
		t.Fatalf("%v", err)
	}
	if got := b.labeled(t); len(got) > 0 {
		t.Errorf("it left %v", got)
	}
	_, err = b.client.CoreV1().Namespaces().Patch(t.Context(), "refit-agent", types.MergePatchType,
		[]byte(`{"metadata":{"labels":{"app.kubernetes.io/managed-by":"refit-install"}}}`), metav1.PatchOptions{})
	must(t, err)
	b.apply(t, options(), false)
}

// The chart of Refit and `refit install` would undo each other's changes.
func TestObjectsOfTheChartAreNotAdopted(t *testing.T) {
	b := newBed(t, apiserver.Versions(t)[0])
	_, err := b.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "refit-agent", Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/part-of": "refit"},
	}}, metav1.CreateOptions{})
	must(t, err)
	_, err = b.Apply(t.Context(), render(t, options()), "v0.1.0", false, install.Callbacks{})
	if err == nil || !strings.Contains(err.Error(), "Namespace refit-agent belongs to a Helm release: upgrade Refit with helm upgrade") {
		t.Fatalf("%v", err)
	}
	if got := b.labeled(t); len(got) > 0 {
		t.Errorf("it left %v", got)
	}
	survey, err := b.Survey(t.Context(), options())
	if err != nil || !survey.Installed() {
		t.Errorf("a removal would find nothing: %v, %+v", err, survey)
	}
}

// `refit install --image-pull-secret none` removes what a user has set with kubectl.
func TestPullSecretsOfOthersAreRemovedOnRequest(t *testing.T) {
	b := newBed(t, apiserver.Versions(t)[0])
	b.apply(t, options(), false)
	accounts := b.client.CoreV1().ServiceAccounts("refit-agent")
	secrets := func() (string, []corev1.LocalObjectReference) {
		list, err := accounts.List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=refit-install"})
		must(t, err)
		if len(list.Items) != 1 {
			t.Fatalf("%d accounts", len(list.Items))
		}
		return list.Items[0].Name, list.Items[0].ImagePullSecrets
	}
	name, _ := secrets()
	patch := []byte(`{"imagePullSecrets":[{"name":"mirror"}]}`)
	_, err := accounts.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-patch"})
	must(t, err)
	b.apply(t, options(), false)
	if _, kept := secrets(); len(kept) != 1 {
		t.Errorf("without a request: %v", kept)
	}
	o := options()
	o.NoPullSecrets = true
	for range 2 {
		b.apply(t, o, false)
		if _, left := secrets(); len(left) > 0 {
			t.Errorf("with a request: %v", left)
		}
	}
}
