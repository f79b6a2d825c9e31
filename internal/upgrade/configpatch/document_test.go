package configpatch

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"
)

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestChangesOfAClusterConfiguration(t *testing.T) {
	const v3, v4 = "apiVersion: kubeadm.k8s.io/v1beta3\n", "apiVersion: kubeadm.k8s.io/v1beta4\n"
	for situation, c := range map[string]struct {
		before  string
		changes []Change
		after   string
	}{
		"an argument between others": {
			v4 + "apiServer:\n  certSANs: [a]\n  extraArgs:\n  - {name: v, value: '2'}\n  - {name: goaway-chance, value: '0'}\n  - {name: z, value: ''}\n",
			[]Change{{chance, []string{"0"}, []string{"0.1"}}},
			v4 + "apiServer:\n  certSANs: [a]\n  extraArgs:\n  - {name: v, value: '2'}\n  - {name: goaway-chance, value: '0.1'}\n  - {name: z, value: ''}\n",
		},
		"the first argument": {
			v4 + "apiServer: {}\n",
			[]Change{{chance, nil, []string{"0.1"}}},
			v4 + "apiServer:\n  extraArgs: [{name: goaway-chance, value: '0.1'}]\n",
		},
		"the last argument is removed": {
			v4 + "apiServer:\n  extraArgs: [{name: goaway-chance, value: '0.1'}]\n", []Change{{chance, []string{"0.1"}, nil}}, v4 + "apiServer: {}\n",
		},
		"an argument with two values": {
			v4,
			[]Change{{"etcd.local.extraArgs.metrics", nil, []string{"a", "b"}}},
			v4 + "etcd:\n  local:\n    extraArgs: [{name: metrics, value: a}, {name: metrics, value: b}]\n",
		},
		"two values become one": {
			v4 + "scheduler:\n  extraArgs: [{name: x, value: a}, {name: v, value: '1'}, {name: x, value: b}]\n",
			[]Change{{"scheduler.extraArgs.x", []string{"a", "b"}, []string{"c"}}},
			v4 + "scheduler:\n  extraArgs: [{name: x, value: c}, {name: v, value: '1'}]\n",
		},
		"arguments as a map": {
			v3 + "apiServer:\n  extraArgs: {v: '2'}\n",
			[]Change{{chance, nil, []string{"0.1"}}},
			v3 + "apiServer:\n  extraArgs: {v: '2', goaway-chance: '0.1'}\n",
		},
		"the first argument of a map": {v3, []Change{{chance, nil, []string{"0.1"}}}, v3 + "apiServer:\n  extraArgs: {goaway-chance: '0.1'}\n"},
		"the last argument of a map":  {v3 + "apiServer:\n  extraArgs: {goaway-chance: '1'}\n", []Change{{chance, nil, nil}}, v3 + "apiServer: {}\n"},
		"parts that are null": {
			v4 + "etcd:\nscheduler:\n  extraArgs:\n",
			[]Change{{"etcd.local.extraArgs.metrics", nil, []string{"a"}}, {"scheduler.extraArgs.v", nil, []string{"4"}}},
			v4 + "etcd:\n  local:\n    extraArgs: [{name: metrics, value: a}]\nscheduler:\n  extraArgs: [{name: v, value: '4'}]\n",
		},
		"a feature gate":         {v4, []Change{{"featureGates.A", nil, []string{"true"}}}, v4 + "featureGates: {A: true}\n"},
		"a feature gate removed": {v4 + "featureGates: {A: true}\n", []Change{{"featureGates.A", []string{"true"}, nil}}, v4},
	} {
		t.Run(situation, func(t *testing.T) {
			before := parse(t, c.before)
			after, err := Write(before, c.changes)
			if err != nil || !reflect.DeepEqual(after, parse(t, c.after)) {
				t.Fatalf("got %v, %v", after, err)
			}
			if !reflect.DeepEqual(before, parse(t, c.before)) {
				t.Error("the document before was changed")
			}
			values, err := Read(after)
			for _, change := range c.changes {
				if err != nil || !reflect.DeepEqual(values[change.Field], change.To) {
					t.Errorf("%s reads %v, %v", change.Field, values[change.Field], err)
				}
			}
		})
	}
}

func TestSeveralValuesNeedV1beta4(t *testing.T) {
	_, err := Write(parse(t, "apiVersion: kubeadm.k8s.io/v1beta3\n"), []Change{{chance, nil, []string{"a", "b"}}})
	if err == nil || !strings.Contains(err.Error(), "v1beta4") {
		t.Errorf("error %v", err)
	}
}

func TestClusterConfigurationOfAnotherShape(t *testing.T) {
	for _, text := range []string{
		"apiServer: [1]", "apiServer: {extraArgs: 1}", "apiServer: {extraArgs: [{value: a}]}", "apiServer: {extraArgs: {v: {}}}", "etcd: {local: x}",
	} {
		if values, err := Read(parse(t, text)); err == nil {
			t.Errorf("%s reads %v", text, values)
		}
	}
	if values, err := Read(parse(t, "etcd: {external: {}}")); err != nil || len(values) > 0 || !ExternalEtcd(parse(t, "etcd: {external: {}}")) {
		t.Errorf("got %v, %v", values, err)
	}
}
