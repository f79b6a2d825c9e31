package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/config"
	"github.com/refit-dev/refit/internal/engine/install"
)

const chart = "../../charts/refit"

const pem = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA<&>\n-----END PUBLIC KEY-----\n"

// values is YAML of values.
type values string

// rendered returns the objects of the chart.
func rendered(t *testing.T, v values) (map[string]*unstructured.Unstructured, error) {
	t.Helper()
	c, err := loader.Load(chart)
	if err != nil {
		t.Fatal(err)
	}
	var set map[string]any
	if err := yaml.Unmarshal([]byte(v), &set); err != nil {
		t.Fatal(err)
	}
	all, err := util.ToRenderValues(c, set, common.ReleaseOptions{Name: "refit", Namespace: "kube-system", IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	texts, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	out := map[string]*unstructured.Unstructured{}
	for name, text := range texts {
		if filepath.Ext(name) != ".yaml" {
			continue
		}
		for document := range strings.SplitSeq("\n"+text, "\n---\n") {
			var fields map[string]any
			if err := yaml.UnmarshalStrict([]byte(document), &fields); err != nil { // also a field that is there twice
				t.Fatalf("%s: %v\n%s", name, err, document)
			}
			if len(fields) == 0 {
				continue
			}
			object := &unstructured.Unstructured{Object: fields}
			if _, hook := object.GetAnnotations()["helm.sh/hook"]; hook {
				continue
			}
			if out[keyOf(object)] != nil {
				t.Errorf("%s twice", keyOf(object))
			}
			out[keyOf(object)] = object
		}
	}
	return out, nil
}

func TestTheChartInstallsWhatRefitInstalls(t *testing.T) {
	keys := map[string]string{"release.pem": pem}
	const key = "keys: {release.pem: \"-----BEGIN PUBLIC KEY-----\\nMCowBQYDK2VwAyEA<&>\\n-----END PUBLIC KEY-----\\n\"}\n"
	images := func(o install.Options) install.Options {
		o.Manifests, o.Version = config.Files, "v0.0.0-dev"
		o.Controller, o.Agent = "ghcr.io/refit-dev/refit-controller:v0.0.0-dev", "ghcr.io/refit-dev/refit-agent:v0.0.0-dev"
		return o
	}
	sources, err := install.WithSources("{}", []string{"https://mirror.example/refit", "/srv/refit"})
	if err != nil {
		t.Fatal(err)
	}
	for situation, c := range map[string]struct {
		values  values
		options install.Options
	}{
		"a key":    {key, images(install.Options{Keys: keys})},
		"sources":  {key + "sources: [\"https://mirror.example/refit\", /srv/refit]\n", images(install.Options{Keys: keys, Settings: sources})},
		"settings": {key + "settings: {kubeadm: {ignorePreflightErrors: [Swap]}}\n", images(install.Options{Keys: keys, Settings: "kubeadm:\n  ignorePreflightErrors:\n  - Swap\n"})},
		"stores":   {key + "stores: {recipients: [age1x]}\n", images(install.Options{Keys: keys, Stores: "recipients:\n- age1x\n"})},
		"components": {
			key + "components: {enabled: true, tolerations: [{key: gpu, operator: Exists}]}\ncontroller: {tolerations: [{key: gpu, operator: Exists}]}\n",
			images(install.Options{
				Keys: keys, Components: "ghcr.io/refit-dev/refit-components:v0.0.0-dev",
				Tolerations: []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}},
			}),
		},
		"components, standalone": {
			key + "components: {enabled: true}\ncontroller: {enabled: false}\nimagePullSecrets: [mirror]\n", images(install.Options{
				Keys: keys, Components: "ghcr.io/refit-dev/refit-components:v0.0.0-dev", Standalone: true, PullSecrets: []string{"mirror"},
			}),
		},
		"standalone":   {key + "controller: {enabled: false}\n", images(install.Options{Keys: keys, Standalone: true})},
		"traces":       {key + "traces: {endpoint: \"http://collector.example:4318\"}\n", images(install.Options{Keys: keys, Traces: "http://collector.example:4318"})},
		"pull secrets": {key + "imagePullSecrets: [mirror, other]\n", images(install.Options{Keys: keys, PullSecrets: []string{"mirror", "other"}})},
		"tolerations": {
			key + "controller: {tolerations: [{key: dedicated, operator: Equal, value: infra, effect: NoExecute}, {key: gpu, operator: Exists}, {effect: NoSchedule, operator: Exists}]}\n",
			images(install.Options{Keys: keys, Tolerations: []corev1.Toleration{
				{Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "infra", Effect: corev1.TaintEffectNoExecute},
				{Key: "gpu", Operator: corev1.TolerationOpExists},
				{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}, // a default one
			}}),
		},
		"everything": {
			key + "imagePullSecrets: [mirror]\nsources: [\"https://mirror.example/refit\", /srv/refit]\nstores: {recipients: [age1x]}\n" +
				"images: {repository: registry.example/refit}\ncontroller: {tolerations: [{key: dedicated, operator: Exists}]}\n",
			install.Options{
				Manifests: config.Files, Version: "v0.0.0-dev", Keys: keys, Settings: sources, Stores: "recipients:\n- age1x\n", PullSecrets: []string{"mirror"},
				Controller: "registry.example/refit/refit-controller:v0.0.0-dev", Agent: "registry.example/refit/refit-agent:v0.0.0-dev",
				Tolerations: []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}},
			},
		},
		"other images": {key + "images: {repository: registry.example:5000/refit, tag: v0.1.0}\n", install.Options{
			Manifests: config.Files, Version: "v0.1.0", Keys: keys,
			Controller: "registry.example:5000/refit/refit-controller:v0.1.0", Agent: "registry.example:5000/refit/refit-agent:v0.1.0",
		}},
	} {
		t.Run(situation, func(t *testing.T) {
			got, err := rendered(t, c.values)
			if err != nil {
				t.Fatal(err)
			}
			want, err := install.Render(c.options)
			if err != nil {
				t.Fatal(err)
			}
			if len(want) != len(got) {
				t.Errorf("%d objects, want %d: %v", len(got), len(want), slices.Sorted(maps.Keys(got)))
			}
			for _, object := range want {
				labels := object.GetLabels()
				delete(labels, labelManagedBy)
				object.SetLabels(labels)
				other := got[keyOf(object)]
				if other == nil {
					t.Errorf("no %s", keyOf(object))
					continue
				}
				labels = other.GetLabels()
				// `refit uninstall` recognizes objects by it, also those that Argo CD applies: only
				// `helm install` adds it by itself.
				if labels[labelManagedBy] != "Helm" {
					t.Errorf("%s has the labels %v", keyOf(object), labels)
				}
				delete(labels, labelManagedBy)
				other.SetLabels(labels)
				if a, b := canonical(t, object), canonical(t, other); a != b {
					t.Errorf("%s differs:\n%s\n%s", keyOf(object), a, b)
				}
			}
		})
	}
}

// canonical is an object as JSON: numbers of both parsers are equal there.
func canonical(t *testing.T, o *unstructured.Unstructured) string {
	t.Helper()
	text, err := json.Marshal(o.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestValuesOfTheChart(t *testing.T) {
	const key = "keys: {release.pem: \"-----BEGIN PUBLIC KEY-----\\n\"}\n"
	got, err := rendered(t, key+`
imagePullSecrets: [mirror]
controller: {tolerations: [{key: dedicated, operator: Exists}], resources: {limits: {memory: 1Gi}}, priorityClassName: high, env: [{name: A, value: b}]}
agent: {resources: {requests: {cpu: 20m}}}
`)
	if err != nil {
		t.Fatal(err)
	}
	controller := canonical(t, got["Deployment refit-system/refit-controller"])
	for _, want := range []string{`{"key":"dedicated","operator":"Exists"}`, `"resources":{"limits":{"memory":"1Gi"}}`, `"priorityClassName":"high"`, `"effect":"NoSchedule"`, `{"name":"A","value":"b"}`} {
		if !strings.Contains(controller, want) {
			t.Errorf("the controller has no %s: %s", want, controller)
		}
	}
	if agent := canonical(t, got["DaemonSet refit-agent/refit-agent"]); !strings.Contains(agent, `"resources":{"requests":{"cpu":"20m"}}`) {
		t.Error(agent)
	}
	for _, account := range []string{"ServiceAccount refit-system/refit-controller", "ServiceAccount refit-agent/refit-agent"} {
		if text := canonical(t, got[account]); !strings.Contains(text, `"imagePullSecrets":[{"name":"mirror"}]`) {
			t.Error(text)
		}
	}
}

func TestValuesThatTheChartRefuses(t *testing.T) {
	const key = "keys: {release.pem: \"-----BEGIN PUBLIC KEY-----\\n\"}\n"
	for situation, c := range map[string]struct {
		values values
		want   string
	}{
		"no key":                    {"{}", "set the public key of ClusterReleases"},
		"a private key":             {"keys: {release.pem: \"-----BEGIN PRIVATE KEY-----\\n\"}", "pattern"},
		"a key with another name":   {"keys: {release.txt: x}", "release.txt"},
		"no images":                 {key + "images: null", "images"},
		"no metrics":                {key + "metrics: null", "metrics"},
		"an unset controller":       {key + "controller: {enabled: null}", "enabled"},
		"unset components":          {key + "components: {enabled: null}", "enabled"},
		"an unknown value":          {key + "replicas: 3", "replicas"},
		"an image with a quote":     {key + "images: {tag: \"v1'\"}", "pattern"},
		"traces without a scheme":   {key + "traces: {endpoint: \"collector:4318\"}", "pattern"},
		"no traces":                 {key + "traces: null", "traces"},
		"a source without a scheme": {key + "sources: [mirror.example]", "pattern"},
	} {
		t.Run(situation, func(t *testing.T) {
			if _, err := rendered(t, c.values); err == nil || !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("%v, want %q in it", err, c.want)
			}
		})
	}
}

// Helm would delete its own record with the namespace.
func TestTheReleaseIsNotInANamespaceOfRefit(t *testing.T) {
	c, err := loader.Load(chart)
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]any{"keys": map[string]any{"release.pem": pem}}
	all, err := util.ToRenderValues(c, set, common.ReleaseOptions{Name: "refit", Namespace: "refit-system", IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Render(c, all); err == nil || !strings.Contains(err.Error(), "choose another namespace for the release") {
		t.Error(err)
	}
}

func TestTheChartIsUpToDate(t *testing.T) {
	files, err := generate(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(chart, name)); err != nil || string(got) != want {
			t.Errorf("%s differs from what it is generated from: run `make generate` (%v)", name, err)
		}
	}
}

func TestMonitoringIsOptional(t *testing.T) {
	const key = "keys: {release.pem: \"-----BEGIN PUBLIC KEY-----\\n\"}\n"
	got, err := rendered(t, key+"metrics: {service: true, serviceMonitor: true, podMonitor: true, prometheusRule: true, dashboard: true, labels: {release: prometheus}}")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Service refit-system/refit-controller-metrics": `"clusterIP":"None"`,
		"ServiceMonitor refit-system/refit-controller":  `"release":"prometheus"`,
		"PodMonitor refit-system/refit-controller":      `"podMetricsEndpoints":[{"port":"metrics"}]`,
		"PrometheusRule refit-system/refit":             `"alert":"RefitUpgradeStalled"`,
		"ConfigMap refit-system/refit-dashboard":        `"grafana_dashboard":"1"`,
	} {
		if got[name] == nil || !strings.Contains(canonical(t, got[name]), want) {
			t.Errorf("%s: %v, want %s in it", name, got[name], want)
		}
	}
	var board struct{ Panels []struct{ Title string } }
	text, _, err := unstructured.NestedString(got["ConfigMap refit-system/refit-dashboard"].Object, "data", "refit.json")
	if err == nil {
		err = json.Unmarshal([]byte(text), &board)
	}
	if err != nil || len(board.Panels) != len(panels) {
		t.Errorf("the dashboard has %d panels: %v", len(board.Panels), err)
	}
}

func TestLabelsOfMonitoringOverrideThoseOfTheChart(t *testing.T) {
	got, err := rendered(t, "keys: {release.pem: \"-----BEGIN PUBLIC KEY-----\\n\"}\nmetrics: {serviceMonitor: true, podMonitor: true, prometheusRule: true, dashboard: true, "+
		"labels: {app.kubernetes.io/part-of: prometheus}, dashboardLabels: {app.kubernetes.io/part-of: grafana}}")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"ServiceMonitor refit-system/refit-controller": "prometheus", "PodMonitor refit-system/refit-controller": "prometheus",
		"PrometheusRule refit-system/refit": "prometheus", "ConfigMap refit-system/refit-dashboard": "grafana",
	} {
		if got[name] == nil || got[name].GetLabels()["app.kubernetes.io/part-of"] != want {
			t.Errorf("%s: %v, want %s", name, got[name].GetLabels(), want)
		}
	}
}

func TestPanelsDoNotOverlap(t *testing.T) {
	text, err := dashboard()
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			GridPos struct{ X, Y, W, H int }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	used := map[[2]int]bool{}
	for i, p := range board.Panels {
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if x >= 24 || used[[2]int{x, y}] {
					t.Fatalf("panel %d is above another one, or too wide", i+1)
				}
				used[[2]int{x, y}] = true
			}
		}
	}
}

// Helm removes the default of a value that is null.
func TestValuesOfTheChartThatAreUnset(t *testing.T) {
	const key = "keys: {release.pem: \"-----BEGIN PUBLIC KEY-----\\r\\n\"}\n" // of an editor on Windows
	for situation, c := range map[string]struct{ values, object, want string }{
		"settings":             {"settings: null", "ConfigMap refit-agent/refit-agent", `"agent.yaml":"{}\n"`},
		"settings and sources": {"settings: null\nsources: [/srv/refit]", "ConfigMap refit-agent/refit-agent", `"agent.yaml":"sources:\n- /srv/refit\n"`},
		"labels":               {"metrics: {dashboard: true, dashboardLabels: null}", "ConfigMap refit-system/refit-dashboard", `"labels":{`},
		"a label":              {"metrics: {dashboard: true, dashboardLabels: {grafana_dashboard: null}}", "ConfigMap refit-system/refit-dashboard", `"labels":{`},
		"tolerations":          {"controller: {tolerations: null}", "Deployment refit-system/refit-controller", `"tolerations":[{`},
	} {
		t.Run(situation, func(t *testing.T) {
			got, err := rendered(t, values(key+c.values))
			if err != nil || got[c.object] == nil || !strings.Contains(canonical(t, got[c.object]), c.want) {
				t.Errorf("%v, %v, want %s", err, got[c.object], c.want)
			}
		})
	}
}

func TestServiceMonitorHasItsService(t *testing.T) {
	got, err := rendered(t, "keys: {release.pem: \"-----BEGIN PUBLIC KEY-----\\n\"}\nmetrics: {serviceMonitor: true}")
	if err != nil || got["Service refit-system/refit-controller-metrics"] == nil {
		t.Errorf("%v: it selects no Service", err)
	}
}

func TestTheChartAcceptsTheVersionsOfInstall(t *testing.T) {
	c, err := loader.Load(chart)
	if err != nil {
		t.Fatal(err)
	}
	if want := ">=" + install.MinKubernetes + ".0-0"; c.Metadata.KubeVersion != want {
		t.Errorf("kubeVersion is %s, want %s", c.Metadata.KubeVersion, want)
	}
}
