package helm

import (
	"io"
	"log/slog"
	"reflect"
	"testing"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	kubefake "helm.sh/helm/v4/pkg/kube/fake"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestHelmRecordsTheRenderingExactly has texts that YAML could read as something else.
func TestHelmRecordsTheRenderingExactly(t *testing.T) {
	data := map[string]any{}
	for key, text := range map[string]string{
		"yes": "yes", "on": "on", "y": "y", "null": "null", "tilde": "~", "octal": "0777", "octal2": "0o17", "exponent": "1e3", "binary": "0b11", "sixty": "12:30:45", "underscore": "1_000",
		"separator": "a\n---\nb\n", "source": "---\n# Source: evil.yaml\nkind: Secret\n", "template": "{{ .Values.a }}",
		"spaces": "  leading\n trailing  \n\n\n", "newline": "\n", "newlines": "\n\n  a", "tab": "a\tb\n\tc", "carriage": "a\r\nb\r\n", "long": "a very long line that is folded by some emitters of YAML because it is longer than eighty columns, is it not?\nsecond",
		"comment": "# not a comment", "colon": "a: b", "dash": "- a", "quote": `'"\`, "unicode": "é 𝄞 \u2028", "merge": "<<", "anchor": "&a *a", "percent": "%YAML 1.2", "date": "2001-01-01", "empty": "",
	} {
		data[key] = text
	}
	want := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "annotations": map[string]any{"a": "true", "b": "1"}},
		"data": data, "spec": map[string]any{"large": int64(9007199254740993), "half": 0.5, "exponent": 1e21, "zero": int64(0), "none": nil, "list": []any{}, "map": map[string]any{}},
	}
	object := Object{Ref: Ref{Kind: "ConfigMap", Name: "a"}, Source: "app/templates/a.yaml", Content: &unstructured.Unstructured{Object: want}}
	got, err := objectsOf(recorded(t, object).Manifest, "", "shop")
	must(t, err)
	if len(got) != 1 || got[0].Source != object.Source {
		t.Fatalf("the objects are %v", names(got))
	}
	for field, value := range want {
		if field == "data" {
			found, _ := got[0].Content.Object["data"].(map[string]any)
			for key, text := range data {
				if found[key] != text {
					t.Errorf("%s is %q, want %q", key, found[key], text)
				}
			}
		} else if !reflect.DeepEqual(got[0].Content.Object[field], value) {
			t.Errorf("%s is %#v, want %#v", field, got[0].Content.Object[field], value)
		}
	}
}

// recorded installs objects instead of those of a chart, without a cluster, and returns the record.
func recorded(t *testing.T, objects ...Object) *release.Release {
	t.Helper()
	config := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	memory := driver.NewMemory()
	memory.SetNamespace("shop")
	config.Releases, config.KubeClient = storage.Init(memory), &kubefake.PrintingKubeClient{Out: io.Discard}
	var err error
	config.Capabilities, err = target.helm()
	must(t, err)
	content, err := chartOf(t, map[string]string{"templates/a.yaml": "kind: ConfigMap\nkind: Secret\n"}).open()
	must(t, err)
	run := action.NewInstall(config)
	run.ReleaseName, run.Namespace, run.WaitStrategy, run.PostRenderer = "app", "shop", kube.HookOnlyStrategy, replacement(objects)
	_, err = run.Run(content, nil)
	must(t, err)
	last, err := config.Releases.Last("app")
	must(t, err)
	found, ok := last.(*release.Release)
	if !ok {
		t.Fatalf("the record is a %T", last)
	}
	return found
}
