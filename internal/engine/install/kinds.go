package install

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is one of the kinds that are installed.
type kind struct {
	apiVersion, kind string
	resource         string
	namespaced       bool
}

// The names of kinds that need care of their own.
const (
	kindNamespace  = "Namespace"
	kindCRD        = "CustomResourceDefinition"
	kindPolicy     = "ValidatingAdmissionPolicy"
	kindConfigMap  = "ConfigMap"
	kindDeployment = "Deployment"
	kindDaemonSet  = "DaemonSet"
)

// kinds are all of them, in the order in which they are applied: what others stand on comes first, and what runs comes when its rights and limits are there.
// They are removed in the reverse order.
var kinds = []kind{
	{"v1", kindNamespace, "namespaces", false},
	{"apiextensions.k8s.io/v1", kindCRD, "customresourcedefinitions", false},
	{"admissionregistration.k8s.io/v1", kindPolicy, "validatingadmissionpolicies", false},
	{"admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", false},
	{"v1", "ServiceAccount", "serviceaccounts", true},
	{"rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false},
	{"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", false},
	{"rbac.authorization.k8s.io/v1", "Role", "roles", true},
	{"rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", true},
	{"v1", kindConfigMap, "configmaps", true},
	{"policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", true},
	{"apps/v1", kindDeployment, "deployments", true},
	{"apps/v1", kindDaemonSet, "daemonsets", true},
}

func rank(o *unstructured.Unstructured) int {
	return slices.IndexFunc(kinds, func(k kind) bool { return k.kind == o.GetKind() && k.apiVersion == o.GetAPIVersion() })
}

// inOrder sorts objects as they are applied, those of a kind by their names.
func inOrder(objects []*unstructured.Unstructured) {
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
}

// Ref names an object in a cluster, so that it can be found without knowing its kind.
type Ref struct {
	APIVersion, Resource string
	Namespace, Name      string
	Kind                 string // for people; an inventory does not have it
}

func (r Ref) gvr() schema.GroupVersionResource {
	gv, _ := schema.ParseGroupVersion(r.APIVersion) // an inventory's is looked at when it is read
	return gv.WithResource(r.Resource)
}

// String is what a person is told.
func (r Ref) String() string {
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + r.Name
	}
	return cmp.Or(r.Kind, r.Resource) + " " + name
}

// same says whether two name one object, whatever their version.
func (r Ref) same(o Ref) bool {
	return r.gvr().GroupResource() == o.gvr().GroupResource() && r.Namespace == o.Namespace && r.Name == o.Name
}

// refOf names an object of one of our kinds.
func refOf(o *unstructured.Unstructured) (Ref, error) {
	at := rank(o)
	if at < 0 {
		return Ref{}, fmt.Errorf("%s %s of %s is of no kind that is installed", o.GetKind(), o.GetName(), o.GetAPIVersion())
	}
	k := kinds[at]
	if k.namespaced != (o.GetNamespace() != "") {
		return Ref{}, fmt.Errorf("%s %s: namespace %q", o.GetKind(), o.GetName(), o.GetNamespace())
	}
	return Ref{APIVersion: k.apiVersion, Resource: k.resource, Namespace: o.GetNamespace(), Name: o.GetName(), Kind: k.kind}, nil
}
