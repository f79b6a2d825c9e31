package install

import (
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "update the golden files")

// manifests are the manifests of the repository.
var manifests = os.DirFS("../../../config")

func options() Options {
	return Options{
		Manifests: manifests, Version: "v0.1.0", Controller: "registry.example/refit/refit-controller:v0.1.0", Agent: "registry.example/refit/refit-agent:v0.1.0",
		Keys: map[string]string{"one.pem": "-----BEGIN PUBLIC KEY-----\n…\n"}, Settings: "sources:\n- /srv/refit\n",
	}
}

// withComponents are the options of an install with refit-components.
func withComponents() Options {
	o := options()
	o.Components = "registry.example/refit/refit-components:v0.1.0"
	return o
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Review the golden files as an administrator who has to permit them.
func TestRenderedManifests(t *testing.T) {
	standalone := options()
	standalone.Standalone = true
	for name, o := range map[string]Options{"install": options(), "standalone": standalone, "components": withComponents()} {
		t.Run(name, func(t *testing.T) {
			objects, err := Render(o)
			must(t, err)
			golden(t, name, objects)
		})
	}
	t.Run("remove", func(t *testing.T) {
		object, err := remover(options())
		must(t, err)
		golden(t, "remove", []*unstructured.Unstructured{object})
	})
}

// golden compares objects with a golden file. Of a CRD, which is generated from api/, it contains
// only the metadata.
func golden(t *testing.T, name string, objects []*unstructured.Unstructured) {
	t.Helper()
	var out strings.Builder
	for _, object := range objects {
		fields := object.DeepCopy().Object
		if object.GetKind() == kindCRD {
			delete(fields, "spec")
		}
		text, err := yaml.Marshal(fields)
		must(t, err)
		out.WriteString("---\n" + string(text))
	}
	path := filepath.Join("testdata", name+".golden.yaml")
	if *update {
		must(t, os.WriteFile(path, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if out.String() != string(want) {
		t.Errorf("%s (to update it, run go test -update, and review it):\n%s", path, out.String())
	}
}

func TestDependenciesComeFirstAndWorkloadsLast(t *testing.T) {
	objects, err := Render(options())
	must(t, err)
	var order []string
	for _, object := range objects {
		if kind := object.GetKind(); len(order) == 0 || order[len(order)-1] != kind {
			order = append(order, kind)
		}
	}
	want := []string{
		"Namespace", "CustomResourceDefinition", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ServiceAccount", "ClusterRole", "ClusterRoleBinding",
		"Role", "RoleBinding", "ConfigMap", "PodDisruptionBudget", "Deployment", "DaemonSet",
	}
	if !slices.Equal(order, want) {
		t.Errorf("the order is %v, want %v", order, want)
	}
}

func TestPodsAreRecreatedOnlyIfTheirTemplateOrConfigurationChanges(t *testing.T) {
	hash := func(change func(*Options)) (agents, controller, components string) {
		o := withComponents()
		change(&o)
		objects, err := Render(o)
		must(t, err)
		for _, object := range objects {
			switch object.GetName() + " " + object.GetKind() {
			case agentName + " " + kindDaemonSet:
				agents = templateOf(object)
			case controllerName + " " + kindDeployment:
				controller = templateOf(object)
			case componentsName + " " + kindDeployment:
				components = templateOf(object)
			}
		}
		return agents, controller, components
	}
	agents, controller, components := hash(func(*Options) {})
	for name, c := range map[string]struct {
		change                         func(*Options)
		agents, controller, components bool
	}{
		"nothing":                   {func(*Options) {}, false, false, false},
		"another version":           {func(o *Options) { o.Version = "v0.2.0" }, false, false, false},
		"an agent's image":          {func(o *Options) { o.Agent += "-rc" }, true, false, false},
		"the controller's":          {func(o *Options) { o.Controller += "-rc" }, false, true, false},
		"that of refit-components":  {func(o *Options) { o.Components += "-rc" }, false, false, true},
		"a key":                     {func(o *Options) { o.Keys = map[string]string{"two.pem": "x"} }, true, false, true},
		"another key of this name":  {func(o *Options) { o.Keys = map[string]string{"one.pem": "x"} }, true, false, true},
		"settings":                  {func(o *Options) { o.Settings = "" }, true, false, false},
		"a toleration":              {func(o *Options) { o.Tolerations = []corev1.Toleration{{Key: "x"}} }, false, true, true},
		"the collector of upgrades": {func(o *Options) { o.Traces = "http://collector.example:4318" }, false, true, false},
	} {
		a, b, d := hash(c.change)
		if (a != agents) != c.agents || (b != controller) != c.controller || (d != components) != c.components || a == "" || b == "" || d == "" {
			t.Errorf("%s: agents %v, controller %v, components %v", name, a != agents, b != controller, d != components)
		}
	}
}

// What later installs keep.
func TestExistingComponentsAreFound(t *testing.T) {
	for _, o := range []Options{options(), withComponents()} {
		o.Standalone, o.Tolerations = true, []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
		objects, err := Render(o)
		must(t, err)
		var stored []runtime.Object
		for _, object := range objects {
			if object.GetKind() == kindDeployment {
				stored = append(stored, object)
			}
		}
		existing, err := (&Cluster{objects: fake.NewSimpleDynamicClient(runtime.NewScheme(), stored...)}).Existing(t.Context())
		must(t, err)
		if existing.Components != (o.Components != "") || existing.Components && len(existing.Tolerations) != 3 {
			t.Errorf("%q: %v, %v", o.Components, existing.Components, existing.Tolerations)
		}
	}
}

// artifact.LoadKeys refuses symlinks, which all files of a mounted ConfigMap are.
func TestKeysOfComponentsAreFiles(t *testing.T) {
	o := withComponents()
	o.Keys = map[string]string{"two.pem": "2", "one.pem": "1"}
	objects, err := Render(o)
	must(t, err)
	for _, object := range objects {
		if object.GetName() != componentsName {
			continue
		}
		switch object.GetKind() {
		case kindConfigMap:
			if data, _, err := unstructured.NestedStringMap(object.Object, "data"); err != nil || !maps.Equal(data, o.Keys) {
				t.Errorf("the keys are %v, %v", data, err)
			}
		case kindDeployment:
			found, err := containers(object)
			must(t, err)
			text, err := yaml.Marshal(found[0]["volumeMounts"])
			want := "- mountPath: /tmp\n  name: temporary\n" +
				"- mountPath: /etc/refit/keys/one.pem\n  name: keys\n  readOnly: true\n  subPath: one.pem\n" +
				"- mountPath: /etc/refit/keys/two.pem\n  name: keys\n  readOnly: true\n  subPath: two.pem\n"
			if err != nil || string(text) != want {
				t.Errorf("%s, %v", text, err)
			}
		}
	}
}

func TestPullSecretsAndTolerations(t *testing.T) {
	o := withComponents()
	o.PullSecrets = []string{"mirror", "other"}
	o.Tolerations = []corev1.Toleration{
		{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}, // a default one
		{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "infra", Effect: corev1.TaintEffectNoExecute},
	}
	objects, err := Render(o)
	must(t, err)
	accounts := 0
	for _, object := range objects {
		switch object.GetKind() {
		case kindAccount:
			accounts++
			if text, err := yaml.Marshal(object.Object["imagePullSecrets"]); err != nil || string(text) != "- name: mirror\n- name: other\n" {
				t.Errorf("%s has %s, %v", object.GetName(), text, err)
			}
		case kindDeployment:
			all, _, err := unstructured.NestedSlice(object.Object, tolerationsOf...)
			text, marshal := yaml.Marshal(all)
			want := "- effect: NoSchedule\n  operator: Exists\n- key: node-role.kubernetes.io/control-plane\n  operator: Exists\n" +
				"- effect: NoExecute\n  key: dedicated\n  operator: Equal\n  value: infra\n"
			if errors.Join(err, marshal) != nil || string(text) != want {
				t.Errorf("%s tolerates %s, %v", object.GetName(), text, err)
			}
		}
	}
	if accounts != 4 {
		t.Errorf("%d accounts have the secrets, want 4", accounts)
	}
}

// An empty list takes the field from the user who set it with kubectl, a missing one does not.
func TestPullSecretsAreRemovedOnlyOnRequest(t *testing.T) {
	for _, remove := range []bool{false, true} {
		o := options()
		o.NoPullSecrets = remove
		objects, err := Render(o)
		must(t, err)
		for _, object := range objects {
			if object.GetKind() != kindAccount {
				continue
			}
			if secrets, set, err := unstructured.NestedSlice(object.Object, "imagePullSecrets"); err != nil || set != remove || len(secrets) > 0 {
				t.Errorf("%s has %v, %v, %v; remove: %v", object.GetName(), secrets, set, err, remove)
			}
		}
	}
}

// What a later install keeps, and what a removal must not take from the pods that it starts.
func TestExistingPodsAreRead(t *testing.T) {
	o := options()
	o.PullSecrets, o.Tolerations = []string{"mirror"}, []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	objects, err := Render(o)
	must(t, err)
	var stored []runtime.Object
	for _, object := range objects {
		if kind := object.GetKind(); kind == kindAccount || kind == kindDeployment {
			stored = append(stored, object)
		}
	}
	c := &Cluster{objects: fake.NewSimpleDynamicClient(runtime.NewScheme(), stored...)}
	existing, err := c.Existing(t.Context())
	must(t, err)
	if !slices.Equal(existing.PullSecrets, o.PullSecrets) || len(existing.Tolerations) != 3 {
		t.Errorf("%v, %v", existing.PullSecrets, existing.Tolerations)
	}
	again := options()
	again.PullSecrets, again.Tolerations = existing.PullSecrets, existing.Tolerations
	rendered, err := Render(again)
	must(t, err)
	if !reflect.DeepEqual(rendered, objects) {
		t.Error("an install with what exists changes it")
	}
	needed, err := (&removeRun{Cluster: c, options: options()}).prerequisites(t.Context())
	must(t, err)
	for _, object := range needed {
		if secrets, _, _ := unstructured.NestedSlice(object.Object, "imagePullSecrets"); object.GetKind() == kindAccount && len(secrets) != 1 {
			t.Errorf("a removal sets the secrets %v", secrets)
		}
	}
}

func TestInvalidOptionsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"no key":                 {func(o *Options) { o.Keys = nil }, "without a release key"},
		"a key with a path":      {func(o *Options) { o.Keys = map[string]string{"../x.pem": ""} }, "is not a key file name"},
		"a key as settings":      {func(o *Options) { o.Keys = map[string]string{settingsKey: ""} }, "is not a key file name"},
		"a secret with a path":   {func(o *Options) { o.PullSecrets = []string{"a/b"} }, "is not the name of a Secret"},
		"no image":               {func(o *Options) { o.Agent = "" }, "is not an image name"},
		"not an image":           {func(o *Options) { o.Components = "x y" }, "is not an image name"},
		"an expression as image": {func(o *Options) { o.Agent = "x' || 'y" }, "is not an image name"},
		"another folder":         {func(o *Options) { o.Manifests = os.DirFS(".") }, "no manifests in crd"},
		"an unknown kind": {func(o *Options) {
			o.Manifests = fstest.MapFS{"crd/x.yaml": {Data: []byte("apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\n")}}
			for _, folder := range folders[1:] {
				o.Manifests.(fstest.MapFS)[folder+"/x.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n")}
			}
		}, "is not of an installed kind"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options()
			c.change(&o)
			if _, err := Render(o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
	o := options()
	o.Keys = nil
	if _, err := Render(o); !errors.Is(err, ErrNoKeys) {
		t.Error(err)
	}
}

func TestOtherSourcesKeepTheOtherSettings(t *testing.T) {
	for _, c := range []struct{ before, want string }{
		{"", "sources:\n- /srv/new\n"},
		{"{}\n", "sources:\n- /srv/new\n"},
		{"reservedDiskMiB: 128\nsources: [/srv/old, /srv/older]\n", "reservedDiskMiB: 128\nsources:\n- /srv/new\n"},
	} {
		got, err := WithSources(c.before, []string{"/srv/new"})
		if err != nil || got != c.want {
			t.Errorf("%q became %q, %v", c.before, got, err)
		}
	}
	if _, err := WithSources("- a list", nil); err == nil {
		t.Error("settings that are a list are accepted")
	}
}
