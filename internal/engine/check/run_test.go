package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

var queue = schema.GroupVersionKind{Group: "kueue.x-k8s.io", Version: "v1beta1", Kind: "ClusterQueue"}

func queues(rule string) *refitv1alpha1.ComponentCheck {
	return &refitv1alpha1.ComponentCheck{
		Name: "queues", Objects: refitv1alpha1.CheckedObjects{Kind: "ClusterQueue.kueue.x-k8s.io"}, Rule: rule, Message: "the queue is stopped", Remedy: "Resume it",
	}
}

func queueOf(name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name, "labels": map[string]any{"team": name}}}}
	if spec != nil {
		o.Object["spec"] = spec
	}
	o.SetGroupVersionKind(queue)
	return o
}

// clusterOf is a cluster that has the kind ClusterQueue in one version, and these objects. Lists
// have pages.
func clusterOf(t *testing.T, lists interceptor.Funcs, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{queue.GroupVersion(), corev1.SchemeGroupVersion})
	mapper.Add(queue, meta.RESTScopeRoot)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	scheme.AddKnownTypeWithName(queue, &unstructured.Unstructured{})
	scheme.AddKnownTypeWithName(queue.GroupVersion().WithKind("ClusterQueueList"), &unstructured.UnstructuredList{})
	return fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithObjects(objects...).WithInterceptorFuncs(lists).Build()
}

// paged lists objects in pages, and counts the requests.
func paged(objects []unstructured.Unstructured, requests *int) interceptor.Funcs {
	return interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		*requests++
		var o client.ListOptions
		o.ApplyOptions(options)
		from := 0
		if o.Continue != "" {
			if _, err := fmt.Sscan(o.Continue, &from); err != nil {
				return err
			}
		}
		to := min(from+int(o.Limit), len(objects))
		page, _ := list.(*unstructured.UnstructuredList)
		for i := from; i < to; i++ {
			page.Items = append(page.Items, *objects[i].DeepCopy())
		}
		if to < len(objects) {
			page.SetContinue(fmt.Sprint(to))
		}
		return nil
	}}
}

func TestRulesAboutObjects(t *testing.T) {
	objects := []client.Object{
		queueOf("active", map[string]any{"stopPolicy": "None", "weight": int64(3), "share": 0.5, "flavors": []any{"gpu", "cpu"}}),
		queueOf("default", map[string]any{}),
		queueOf("held", map[string]any{"stopPolicy": "Hold", "weight": int64(7), "flavors": []any{"cpu"}}),
	}
	versions := Versions{From: "0.14.0", To: "0.15.0", Kubernetes: "v1.36.3"}
	for name, test := range map[string]struct {
		change  func(*refitv1alpha1.ComponentCheck)
		rule    string
		failed  []string // nil: it holds
		invalid string
	}{
		"has":            {rule: "!has(object.spec.stopPolicy) || object.spec.stopPolicy == 'None'", failed: []string{"held"}},
		"optional":       {rule: "object.spec.?stopPolicy.orValue('None') == 'None'", failed: []string{"held"}},
		"it holds":       {rule: "object.metadata.name.size() < 20"},
		"missing field":  {rule: "object.spec.stopPolicy != 'Hold'", failed: []string{"held"}, invalid: "ClusterQueue default: no such key: stopPolicy"},
		"missing parent": {rule: "object.status.ready == true", invalid: "ClusterQueue active: no such key: status"},
		"integers":       {rule: "!has(object.spec.weight) || object.spec.weight <= 5", failed: []string{"held"}},
		"floats":         {rule: "!has(object.spec.share) || object.spec.share > 0.6", failed: []string{"active"}},
		"lists":          {rule: "!has(object.spec.flavors) || object.spec.flavors.exists(f, f == 'gpu')", failed: []string{"held"}},
		"another type":   {rule: "!has(object.spec.weight) || object.spec.weight == 'three'", failed: []string{"active", "held"}},
		"wrong overload": {rule: "!has(object.spec.weight) || object.spec.weight.startsWith('3')", invalid: "ClusterQueue active: no such overload"},
		"no number":      {rule: "has(object.spec.stopPolicy) ? int(object.spec.stopPolicy) > 3 : true", invalid: "ClusterQueue active"},
		"versions":       {rule: "from == '0.14.0' && to == '0.15.0' && semver(kubernetes, true).minor() == 36"},
		"division":       {rule: "1 / (object.metadata.name.size() - 6) > 0 || true == false", failed: []string{"held"}, invalid: "ClusterQueue active: division by zero"},
		"labels": {
			rule: "false", failed: []string{"held"}, change: func(c *refitv1alpha1.ComponentCheck) { c.Objects.Selector = "team=held" },
		},
		"kind that does not exist": {
			rule: "false", change: func(c *refitv1alpha1.ComponentCheck) { c.Objects.Kind = "Cohort.kueue.x-k8s.io" },
		},
		"version": {
			rule: "object.apiVersion == 'kueue.x-k8s.io/v1beta1'", change: func(c *refitv1alpha1.ComponentCheck) { c.Objects.Version = "v1beta1" },
		},
		"version that is not served": {
			rule: "true", change: func(c *refitv1alpha1.ComponentCheck) { c.Objects.Version = "v1" },
			invalid: "the API server does not serve ClusterQueue.kueue.x-k8s.io in version v1",
		},
		"invalid rule": {rule: "object.", invalid: "rule: 1:8: Syntax error"},
		"list rule": {
			change: func(c *refitv1alpha1.ComponentCheck) {
				c.Rule, c.ListRule = "", "objects.exists(o, o.spec.?stopPolicy.orValue('') == 'None') && objects.size() == 3"
			},
		},
		"list rule that fails": {
			failed: []string{}, change: func(c *refitv1alpha1.ComponentCheck) { c.Rule, c.ListRule = "", "objects.size() >= 4" },
		},
		"list rule about a kind that does not exist": {
			failed: []string{}, change: func(c *refitv1alpha1.ComponentCheck) {
				c.Objects.Kind, c.Rule, c.ListRule = "Cohort.kueue.x-k8s.io", "", "objects.size() >= 1"
			},
		},
		"list rule with an error": {
			invalid: "no such key: stopPolicy", change: func(c *refitv1alpha1.ComponentCheck) {
				c.Rule, c.ListRule = "", "objects.map(o, o.spec.stopPolicy).size() == 3"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			check := queues(test.rule)
			if test.change != nil {
				test.change(check)
			}
			got, err := Run(t.Context(), clusterOf(t, interceptor.Funcs{}, objects...), check, versions)
			if err != nil {
				t.Fatal(err)
			}
			if got.Failed != (test.failed != nil) || !slices.Equal(got.Objects, test.failed) {
				t.Errorf("failed: %v for %q, want %q", got.Failed, got.Objects, test.failed)
			}
			if (got.Invalid == nil) != (test.invalid == "") || got.Invalid != nil && !strings.Contains(got.Invalid.Error(), test.invalid) {
				t.Errorf("invalid: %v, want %q", got.Invalid, test.invalid)
			}
		})
	}
}

func TestObjectsOfANamespace(t *testing.T) {
	object := func(namespace string) *corev1.ConfigMap {
		o := &corev1.ConfigMap{}
		o.Namespace, o.Name = namespace, "settings"
		return o
	}
	check := &refitv1alpha1.ComponentCheck{Name: "x", Objects: refitv1alpha1.CheckedObjects{Kind: "ConfigMap", Namespace: "b"}, Rule: "false"}
	got, err := Run(t.Context(), clusterOf(t, interceptor.Funcs{}, object("a"), object("b")), check, Versions{})
	if err != nil || !slices.Equal(got.Objects, []string{"b/settings"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// many returns as many ClusterQueues, each with a text of this size.
func many(count, size int) (objects []unstructured.Unstructured) {
	for i := range count {
		objects = append(objects, *queueOf(fmt.Sprintf("queue-%05d", i), map[string]any{"text": strings.Repeat("x", size)}))
	}
	return objects
}

// TestHostileRules has rules that would take minutes, hours or all memory.
func TestHostileRules(t *testing.T) {
	long := "[" + strings.TrimSuffix(strings.Repeat("1,", 100), ",") + "]"
	nested := long + ".all(a, " + long + ".all(b, " + long + ".all(c, " + long + ".all(d, a+b+c+d > 0))))"
	text := "object.spec.text"
	for name, rule := range map[string]string{
		"nested loops":          nested,
		"regular expression":    long + ".all(a, " + text + ".matches('(x+x+)+y') == false)",
		"doubling text":         "[" + text + "].map(a, a+a+a+a+a+a+a+a+a+a).map(b, b+b+b+b+b+b+b+b+b+b).map(c, c+c+c+c+c+c+c+c+c+c).size() == 2",
		"replaced text":         "[" + text + "].map(a, a.replace('x', '" + strings.Repeat("x", 99) + "')).map(b, b.replace('x', '" + strings.Repeat("x", 99) + "')).size() == 2",
		"doubling list":         "[" + text + ".split('')].map(a, a+a+a+a+a+a+a+a+a+a).map(b, b+b+b+b+b+b+b+b+b+b).map(c, c+c+c+c+c+c+c+c+c+c).all(d, d == d)",
		"growing text":          strings.Repeat("(", 50) + text + strings.Repeat("+"+text+")", 50) + ".size() > 0",
		"growing list":          long + ".map(a, " + long + ".map(b, " + long + ".map(c, " + long + "))).size() > 0",
		"loop over a text":      text + ".split('').all(a, " + text + ".split('').all(b, a == b))",
		"sum of all characters": long + ".all(a, " + long + ".all(b, " + text + ".contains('y') == false))",
	} {
		t.Run(name, func(t *testing.T) {
			requests := 0
			got, err := Run(t.Context(), clusterOf(t, paged(many(300, 20_000), &requests)), queues(rule), Versions{})
			if err != nil || got.Failed {
				t.Fatalf("%+v, %v", got, err)
			}
			if got.Invalid == nil || !strings.Contains(got.Invalid.Error(), "costs more than a check may") {
				t.Errorf("invalid: %v", got.Invalid)
			}
		})
	}
}

// A rule that is cheap for one object must not take forever for all of them.
func TestBudgetOfAllObjectsTogether(t *testing.T) {
	requests := 0
	rule := "object.spec.text.matches('y') == false" // about 0.1 per character
	got, err := Run(t.Context(), clusterOf(t, paged(many(9_000, 2_000), &requests)), queues(rule), Versions{})
	if err != nil || got.Invalid != nil || got.Failed {
		t.Errorf("2000 characters: %+v, %v", got, err)
	}
	got, err = Run(t.Context(), clusterOf(t, paged(many(3_000, 200_000), &requests)), queues(rule), Versions{})
	if err != nil || got.Invalid == nil || !errors.Is(got.Invalid, errBudget) {
		t.Errorf("200000 characters: %+v, %v", got, err)
	}
}

func TestManyObjects(t *testing.T) {
	for name, test := range map[string]struct {
		objects []unstructured.Unstructured
		list    bool
		invalid string
	}{
		"as many as a check reads":     {objects: many(maxObjects, 10)},
		"more than a check reads":      {objects: many(maxObjects+1, 10), invalid: "more than 10000 objects of kind ClusterQueue.kueue.x-k8s.io"},
		"list":                         {objects: many(maxObjects/10, 10), list: true},
		"list with too many objects":   {objects: many(maxObjects+1, 10), list: true, invalid: "more than 10000 objects"},
		"list with too large objects":  {objects: many(200, 100_000), list: true, invalid: "more than 4 MiB"},
		"large objects, one at a time": {objects: many(200, 100_000)},
	} {
		t.Run(name, func(t *testing.T) {
			check, requests := queues("has(object.spec.text)"), 0
			if test.list {
				check.Rule, check.ListRule = "", "objects.all(o, has(o.spec.text))"
			}
			got, err := Run(t.Context(), clusterOf(t, paged(test.objects, &requests)), check, Versions{})
			if err != nil || got.Failed || (got.Invalid == nil) != (test.invalid == "") ||
				got.Invalid != nil && !strings.Contains(got.Invalid.Error(), test.invalid) {
				t.Errorf("%+v, %v, want %q", got, err, test.invalid)
			}
			if requests < 2 || requests > 40 {
				t.Errorf("%d requests for %d objects", requests, len(test.objects))
			}
		})
	}
}

func TestObjectsThatCannotBeRead(t *testing.T) {
	resource := schema.GroupResource{Group: queue.Group, Resource: "clusterqueues"}
	lists := func(err error) interceptor.Funcs {
		return interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return err }}
	}
	for name, test := range map[string]struct {
		err           error
		invalid, want string
	}{
		"permission is missing":     {err: apierrors.NewForbidden(resource, "", errors.New("no")), want: "cannot list ClusterQueue.kueue.x-k8s.io"},
		"API server is unavailable": {err: apierrors.NewServiceUnavailable("down"), want: "cannot list ClusterQueue.kueue.x-k8s.io"},
		"kind was removed":          {err: apierrors.NewNotFound(resource, "")},
		"kind cannot be listed":     {err: apierrors.NewMethodNotSupported(resource, "list"), invalid: "cannot be listed"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Run(t.Context(), clusterOf(t, lists(test.err)), queues("false"), Versions{})
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if (got.Invalid == nil) != (test.invalid == "") || got.Failed || got.Invalid != nil && !strings.Contains(got.Invalid.Error(), test.invalid) {
				t.Errorf("%+v, want %q", got, test.invalid)
			}
		})
	}
}

// A list that takes longer than the API server keeps old revisions continues with newer ones.
func TestListThatExpires(t *testing.T) {
	objects, requests, expired := many(40, 10), 0, false
	pages := paged(objects, &requests)
	lists := interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		var o client.ListOptions
		o.ApplyOptions(options)
		if o.Continue == "10" && !expired {
			expired = true
			err := apierrors.NewResourceExpired("too old")
			err.ErrStatus.Continue = "10"
			return err
		}
		return pages.List(ctx, c, list, options...)
	}}
	got, err := Run(t.Context(), clusterOf(t, lists), queues("false"), Versions{})
	if err != nil || len(got.Objects) != len(objects) || !expired {
		t.Errorf("%d of %d objects, %v", len(got.Objects), len(objects), err)
	}
}

func TestContextThatEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	requests := 0
	if _, err := Run(ctx, clusterOf(t, paged(many(10, 10), &requests)), queues("true"), Versions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Run() = %v", err)
	}
}

func TestRulesThatDoNotCompile(t *testing.T) {
	for name, test := range map[string]struct{ rule, listRule, want string }{
		"syntax":              {rule: "object.spec ==", want: "rule: 1:15: Syntax error"},
		"unknown variable":    {rule: "self.spec == 1", want: "rule: 1:1: undeclared reference to 'self'"},
		"list in a rule":      {rule: "objects.size() > 1", want: "rule: 1:1: undeclared reference to 'objects'"},
		"object in a list":    {listRule: "object.spec == 1", want: "listRule: 1:1: undeclared reference to 'object'"},
		"unknown function":    {rule: "run('rm')", want: "undeclared reference to 'run'"},
		"text":                {rule: "'true'", want: "rule: its result is string, and must be bool"},
		"unknown type":        {rule: "object.spec.enabled", want: "rule: its result is dyn, and must be bool"},
		"version as a number": {rule: "from > 3", want: "found no matching overload"},
		"regular expression":  {rule: "object.metadata.name.matches('(')", want: "invalid matches argument"},
		"unbounded list":      {rule: "lists.range(10000000000).size() > 0", want: "undeclared reference to 'lists'"},
		"chain of loops":      {rule: "[1]" + strings.Repeat(".map(a, [a, a])", 5) + ".size() == 1", want: "rule: it has more than 4 nested or chained macros"},
		"nested loops":        {rule: strings.Repeat("[1].all(a, ", 5) + "true" + strings.Repeat(")", 5), want: "rule: it has more than 4 nested"},
		"chain of optionals":  {rule: "optional.of([1])" + strings.Repeat(".optMap(a, [a, a])", 5) + ".hasValue()", want: "rule: it has more than 4 nested"},
		"deep nesting":        {rule: strings.Repeat("(", 900) + "true" + strings.Repeat(")", 900), want: "rule:"},
		"authorizer":          {rule: "authorizer.group('').resource('pods').check('get').allowed()", want: "undeclared reference to 'authorizer'"},
	} {
		t.Run(name, func(t *testing.T) {
			check := queues(test.rule)
			check.ListRule = test.listRule
			if err := Compile(check); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Compile() = %v, want %q in one line", err, test.want)
			}
		})
	}
}
