//go:build apiserver

package api

import (
	"fmt"
	"maps"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/refit-dev/refit/test/apiserver"
)

// The accounts of Refit, which are bound to roles that are wider than those of config/: only the
// policies restrict them here.
const (
	controllerAccount = "system:serviceaccount:refit-system:refit-controller"
	componentsAccount = "system:serviceaccount:refit-components:refit-components"
)

// wide lets a user do everything in the group except approving.
func wide(t *testing.T, s *apiserver.Server, user string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.RESTConfig())
	must(t, err)
	_, err = client.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "test-wide"},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"", "apps", "batch", rbacv1.GroupName}, Resources: []string{"*"}, Verbs: []string{"*"}},
			{APIGroups: []string{"refit.dev"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"}},
		},
	}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		must(t, err)
	}
	bind(t, s, user, "test-wide")
}

// TestComponentsOfUsers has three users: Olga has every permission on components except approve,
// Carl has the role refit-component-editor, and refit-components all permissions.
func TestComponentsOfUsers(t *testing.T) {
	const (
		mayNot  = "olga may not change the spec of Component liqo, which can change everything that its chart can: it requires the verb approve on components.refit.dev"
		noOwner = "refit-components may not change the spec of Component liqo: it is the user's"
	)
	values := fields{"spec.values": object{"replicas": int64(3)}}
	tests := []struct {
		situation string
		was, now  fields // nil: it is created, or deleted
		changes   bool   // the spec
	}{
		{"creates one without a spec", nil, fields{}, false},
		{"creates one with an empty spec", nil, fields{"spec": object{}}, false},
		{"creates one that says the default", nil, fields{"spec.manage": "Refit"}, false},
		{"creates one with values", nil, values, true},
		{"creates one that adopts", nil, fields{"spec.adopt": true}, true},
		{"creates one that another tool manages", nil, fields{"spec.manage": "Observe"}, true},
		{"sets values", fields{}, values, true},
		{"changes values", values, fields{"spec.values": object{"replicas": int64(4)}}, true},
		{"names a Secret with values", fields{}, fields{"spec.valuesFrom": list{object{"secret": "mine"}}}, true},
		{"claims the version of a peer", fields{}, fields{"spec.peers": list{object{"name": "turin", "version": "v1.2.0"}}}, true},
		{"removes values", values, fields{"spec.values": nil}, true},
		{"removes the spec", values, fields{"spec": nil}, true},
		{"adds an empty spec", fields{}, fields{"spec": object{}}, false},
		{"labels one with values", values, fields{"metadata.labels": object{"team": "edge"}}, false},
		{"deletes an empty one", fields{}, nil, false},
		{"deletes one with values", values, nil, true},
	}
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		wide(t, s, "olga")
		bind(t, s, "carl", "refit-component-editor")
		s.Install(t, filepath.Join(config, "components"))
		bind(t, s, componentsAccount, "refit-components-charts")
		for _, tt := range tests {
			t.Run(tt.situation, func(t *testing.T) {
				var stored *unstructured.Unstructured
				if tt.was != nil {
					stored = made(t, s, changed(t, component(), tt.was))
				}
				try := func(user string) error {
					return write(t, objects(t, s.As(t, user), "Component"), stored, component(), tt.now)
				}
				if tt.changes {
					refusedFor(t, "Olga", try("olga"), mayNot)
					refusedFor(t, "refit-components", try(componentsAccount), noOwner)
				} else {
					letThrough(t, "Olga", try("olga"))
					letThrough(t, "refit-components", try(componentsAccount))
				}
				letThrough(t, "Carl", try("carl"))
				letThrough(t, "an administrator", write(t, objects(t, s.RESTConfig(), "Component"), stored, component(), tt.now))
			})
		}
		t.Run("writes a status", func(t *testing.T) {
			stored := made(t, s, component())
			wanted := &unstructured.Unstructured{Object: with(t, stored.Object, "status.owner", "Refit")}
			try := func(user string) error {
				_, err := objects(t, s.As(t, user), "Component").UpdateStatus(t.Context(), wanted, metav1.UpdateOptions{DryRun: dryRun})
				return err
			}
			refusedFor(t, "Olga", try("olga"), "olga may not write the status of Component liqo, of which plans are made")
			letThrough(t, "refit-components", try(componentsAccount))
		})
	})
}

func component() map[string]any {
	return object{"apiVersion": "refit.dev/v1alpha1", "kind": "Component", "metadata": object{"name": "liqo"}}
}

// write creates an object if none is stored, deletes it if there are no changes, or updates it.
func write(t *testing.T, client dynamic.ResourceInterface, stored *unstructured.Unstructured, smallest map[string]any, now fields) error {
	t.Helper()
	var err error
	switch {
	case stored == nil:
		_, err = client.Create(t.Context(), &unstructured.Unstructured{Object: changed(t, smallest, now)}, metav1.CreateOptions{DryRun: dryRun})
	case now == nil:
		err = client.Delete(t.Context(), stored.GetName(), metav1.DeleteOptions{DryRun: dryRun})
	default:
		_, err = client.Update(t.Context(), &unstructured.Unstructured{Object: changed(t, stored.Object, now)}, metav1.UpdateOptions{DryRun: dryRun})
	}
	return err
}

// TestOrdersForComponents checks that orders are the controller's, and journals those of
// refit-components. A user who may approve upgrades runs the controllers with --standalone.
func TestOrdersForComponents(t *testing.T) {
	order := object{
		"apiVersion": "refit.dev/v1alpha1", "kind": "ComponentUpgrade", "metadata": object{"name": "liqo"},
		"spec": object{
			"operation": object{"name": "op", "uid": "6d0f4bd6-3c1e-4a7e-9c5f-2f8d6a1b7e90"}, "sequence": int64(1), "epoch": int64(1),
			"release": object{"name": "r", "digest": hashA}, "version": "v1.2.0", "action": "Upgrade",
			"kubernetes": "v1.35.4", "digest": hashA, "permit": "Apply",
		},
	}
	again := fields{"spec.sequence": int64(2), "spec.permit": "Rollback"}
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		wide(t, s, "olga")
		wide(t, s, controllerAccount)
		wide(t, s, "anna")
		bind(t, s, "anna", "refit-approver")
		bind(t, s, "carl", "refit-component-editor")
		s.Install(t, filepath.Join(config, "components"))
		bind(t, s, componentsAccount, "refit-components-charts")
		stored := made(t, s, order)
		journal := &unstructured.Unstructured{Object: with(t, stored.Object, "status.phase", "Applying")}
		others := object{}
		maps.Copy(others, order)
		others["metadata"] = object{"name": "kueue"}
		for user, may := range map[string]struct{ order, journal bool }{
			controllerAccount: {order: true}, componentsAccount: {journal: true}, "olga": {}, "anna": {order: true},
		} {
			client := objects(t, s.As(t, user), "ComponentUpgrade")
			_, status := client.UpdateStatus(t.Context(), journal, metav1.UpdateOptions{DryRun: dryRun})
			for what, c := range map[string]struct {
				err  error
				may  bool
				says string
			}{
				"create": {write(t, client, nil, others, fields{}), may.order, user + " may not create ComponentUpgrade kueue: only the controller writes orders"},
				"update": {write(t, client, stored, order, again), may.order, user + " may not update ComponentUpgrade liqo"},
				"delete": {write(t, client, stored, order, nil), may.order, user + " may not delete ComponentUpgrade liqo"},
				"status": {status, may.journal, user + " may not write the status of ComponentUpgrade liqo: it is the journal of refit-components"},
			} {
				if c.may {
					letThrough(t, user+": "+what, c.err)
				} else {
					refusedFor(t, user+": "+what, c.err, c.says)
				}
			}
		}
		admin := objects(t, s.RESTConfig(), "ComponentUpgrade")
		letThrough(t, "an administrator", write(t, admin, stored, order, again))
		_, err := admin.UpdateStatus(t.Context(), journal, metav1.UpdateOptions{DryRun: dryRun})
		letThrough(t, "an administrator: status", err)
	})
}

// TestNamespaceOfComponents has Olga, who has every permission in the namespace, and Carl, who may
// approve components, too. Kubernetes' own controllers and kubelets work as elsewhere.
func TestNamespaceOfComponents(t *testing.T) {
	const namespace = "refit-components"
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		s.Install(t, filepath.Join(config, "components"))
		admin, err := kubernetes.NewForConfig(s.RESTConfig())
		must(t, err)
		for _, user := range []string{"olga", "carl", controllerAccount, "system:serviceaccount:kube-system:replicaset-controller"} {
			wide(t, s, user)
		}
		bind(t, s, "carl", "refit-component-editor")
		pods := corev1.PodSpec{ServiceAccountName: "refit-components", Containers: []corev1.Container{{Name: "x", Image: "x", SecurityContext: restricted()}}}
		pods.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
		template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}}, Spec: pods}
		template.Spec.RestartPolicy = corev1.RestartPolicyNever
		named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: namespace} }
		create, update, remove := metav1.CreateOptions{DryRun: dryRun}, metav1.UpdateOptions{DryRun: dryRun}, metav1.DeleteOptions{DryRun: dryRun}
		_, err = admin.CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{ObjectMeta: named("runs"), Spec: pods}, metav1.CreateOptions{})
		must(t, err)
		chart := &corev1.ConfigMap{ObjectMeta: named("refit-chart-0123"), Immutable: new(true)}
		_, err = admin.CoreV1().ConfigMaps(namespace).Create(t.Context(), chart, metav1.CreateOptions{})
		must(t, err)

		// Each is refused without the verb.
		guarded := map[string]func(kubernetes.Interface) error{
			"create pods": func(c kubernetes.Interface) error {
				_, err := c.CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{ObjectMeta: named("x"), Spec: pods}, create)
				return err
			},
			"update pods": func(c kubernetes.Interface) error {
				pod, err := c.CoreV1().Pods(namespace).Get(t.Context(), "runs", metav1.GetOptions{})
				must(t, err)
				pod.Spec.Containers[0].Image = "y"
				_, err = c.CoreV1().Pods(namespace).Update(t.Context(), pod, update)
				return err
			},
			"create jobs": func(c kubernetes.Interface) error {
				_, err := c.BatchV1().Jobs(namespace).Create(t.Context(), &batchv1.Job{ObjectMeta: named("x"), Spec: batchv1.JobSpec{Template: template}}, create)
				return err
			},
			"update deployments": func(c kubernetes.Interface) error {
				deployment, err := c.AppsV1().Deployments(namespace).Get(t.Context(), "refit-components", metav1.GetOptions{})
				must(t, err)
				deployment.Spec.Template.Spec.Containers[0].Image = "y"
				_, err = c.AppsV1().Deployments(namespace).Update(t.Context(), deployment, update)
				return err
			},
			"delete deployments": func(c kubernetes.Interface) error {
				return c.AppsV1().Deployments(namespace).Delete(t.Context(), "refit-components", remove)
			},
			"create replicasets": func(c kubernetes.Interface) error {
				always := template
				always.Spec.RestartPolicy = corev1.RestartPolicyAlways
				_, err := c.AppsV1().ReplicaSets(namespace).Create(t.Context(), &appsv1.ReplicaSet{ObjectMeta: named("x"), Spec: appsv1.ReplicaSetSpec{
					Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: always,
				}}, create)
				return err
			},
			"update configmaps": func(c kubernetes.Interface) error {
				keys, err := c.CoreV1().ConfigMaps(namespace).Get(t.Context(), "refit-components", metav1.GetOptions{})
				must(t, err)
				keys.Data = map[string]string{"mine.pem": "x"}
				_, err = c.CoreV1().ConfigMaps(namespace).Update(t.Context(), keys, update)
				return err
			},
			"delete configmaps": func(c kubernetes.Interface) error {
				return c.CoreV1().ConfigMaps(namespace).Delete(t.Context(), chart.Name, remove)
			},
			"create configmaps": func(c kubernetes.Interface) error { // a chart that can be changed afterwards
				_, err := c.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named("refit-chart-4567")}, create)
				return err
			},
			"create secrets": func(c kubernetes.Interface) error {
				_, err := c.CoreV1().Secrets(namespace).Create(t.Context(), &corev1.Secret{ObjectMeta: named("values")}, create)
				return err
			},
			"create rolebindings": func(c kubernetes.Interface) error {
				_, err := c.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
					ObjectMeta: named("x"), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "refit-components"},
				}, create)
				return err
			},
		}
		clients := map[string]kubernetes.Interface{"an administrator": admin}
		for _, user := range []string{"olga", "carl", controllerAccount, "system:serviceaccount:kube-system:replicaset-controller"} {
			clients[user], err = kubernetes.NewForConfig(s.As(t, user))
			must(t, err)
		}
		for what, try := range guarded {
			refusedFor(t, "Olga: "+what, try(clients["olga"]), fmt.Sprintf("olga may not %s in the namespace refit-components", what))
			letThrough(t, "Carl: "+what, try(clients["carl"]))
			letThrough(t, "an administrator: "+what, try(admin))
		}
		replicas := clients["system:serviceaccount:kube-system:replicaset-controller"]
		letThrough(t, "the ReplicaSet controller", guarded["create pods"](replicas))
		_, err = clients["olga"].CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), "refit-components", tokenRequest(), create)
		refusedFor(t, "Olga: a token", err, "olga may not create serviceaccounts in the namespace refit-components")
		_, err = clients["olga"].CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named("refit-chart-89ab"), Immutable: new(true)}, create)
		letThrough(t, "Olga: adds a chart", err)
		// A drain, and other namespaces.
		letThrough(t, "the controller: delete pods", clients[controllerAccount].CoreV1().Pods(namespace).Delete(t.Context(), "runs", remove))
		_, err = clients["olga"].CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, create)
		letThrough(t, "Olga: in another namespace", err)
		_, err = clients["olga"].RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, create)
		letThrough(t, "Olga: in no namespace", err)
	})
}

// restricted is what Pod Security restricted requires of a container.
func restricted() *corev1.SecurityContext {
	return &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
}

func tokenRequest() *authenticationv1.TokenRequest {
	return &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(600))}}
}
