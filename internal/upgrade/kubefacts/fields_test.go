package kubefacts

import (
	"slices"
	"testing"
)

func TestFieldsOfTheKubelet(t *testing.T) {
	fields := facts(t, "1.36").KubeletConfig
	for path, want := range map[string]bool{
		"authentication.webhook.enabled": true,
		"authentication.webhook":         true,
		"featureGates.*":                 true,
		"registerWithTaints[].key":       true,
		"evictionHard.*":                 true,
		"syncFrequency":                  true,
		"syncFrequency.Duration":         false,
		"containerRuntimeEndpoint":       true,
		"networkPluginName":              false,
		"kind":                           false,
	} {
		if got := fields.Has(path); got != want {
			t.Errorf("Has(%q) = %t", path, got)
		}
	}
}

func TestUnknownFields(t *testing.T) {
	unknown := facts(t, "1.36").KubeletConfig.Unknown(map[string]any{
		"apiVersion":    "kubelet.config.k8s.io/v1beta1",
		"kind":          "KubeletConfiguration",
		"syncFrequency": "1m",
		"authentication": map[string]any{
			"webhook": map[string]any{"enabled": true, "enable": true},
		},
		"featureGates": map[string]any{"Anything": true},
		"registerWithTaints": []any{
			map[string]any{"key": "a", "efect": "NoSchedule"},
			map[string]any{"key": "b", "efect": "NoSchedule"},
		},
		"dynamicConfig": map[string]any{"below": 1},
		"evictionHard":  nil,
	})
	want := []string{"authentication.webhook.enable", "dynamicConfig", "registerWithTaints[].efect"}
	if !slices.Equal(unknown, want) {
		t.Errorf("Unknown() = %v, want %v", unknown, want)
	}
}

func TestNewFieldIsUnknownBefore(t *testing.T) {
	document := map[string]any{"memoryReservationPolicy": "None"}
	for minor, want := range map[string]int{"1.35": 1, "1.36": 0} {
		if unknown := facts(t, minor).KubeletConfig.Unknown(document); len(unknown) != want {
			t.Errorf("%s does not know %v", minor, unknown)
		}
	}
}

func TestFieldsAreSorted(t *testing.T) {
	for _, f := range allFacts(t) {
		if !slices.IsSorted(f.KubeletConfig) || !slices.IsSorted(f.KubeProxyConfig) {
			t.Errorf("%s: the fields are not sorted", f.Version)
		}
	}
}

func TestRemovedFields(t *testing.T) {
	from, to := Fields{"a", "b", "b.c"}, Fields{"a", "d"}
	if got := RemovedFields(from, to); !slices.Equal(got, []string{"b", "b.c"}) {
		t.Errorf("RemovedFields() = %v", got)
	}
}
