package observe

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// stored encodes a release as Helm does.
func stored(t *testing.T, release map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(release)
	if err != nil {
		t.Fatal(err)
	}
	return pack(t, text)
}

func pack(t *testing.T, text []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return []byte(base64.StdEncoding.EncodeToString(packed.Bytes()))
}

func TestDecodeRelease(t *testing.T) {
	service := cluster.Object{APIVersion: "v1", Kind: "Service", Namespace: "shop", Name: "web"}
	const serviceText = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: shop\nspec:\n  clusterIP: None\n"
	for name, test := range map[string]struct {
		manifest string
		want     []cluster.Object
	}{
		"nothing":                           {"", nil},
		"only comments":                     {"---\n# Source: chart/templates/empty.yaml\n---\n", nil},
		"one object":                        {serviceText, []cluster.Object{service}},
		"several, with comments between":    {"---\n# Source: a\n" + serviceText + "---\n# Source: b\n" + serviceText, []cluster.Object{service, service}},
		"Windows line endings":              {"---\r\n" + strings.ReplaceAll(serviceText, "\n", "\r\n"), []cluster.Object{service}},
		"metadata after spec":               {"spec:\n  a: |\n    kind: Nothing\nkind: Service\napiVersion: v1\nmetadata: {name: web, namespace: shop}\n", []cluster.Object{service}},
		"quoted keys":                       {`"apiVersion": "v1"` + "\n" + `"kind": "Service"` + "\n" + `"metadata": {"name": "web", "namespace": "shop"}` + "\n", []cluster.Object{service}},
		"JSON":                              {`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"shop"}}`, []cluster.Object{service}},
		"a List":                            {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata: {name: web, namespace: shop}\n", []cluster.Object{service}},
		"a certificate at column 0":         {"apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\ndata: \"\n-----BEGIN CERTIFICATE-----\n\"\n", []cluster.Object{service}},
		"an anchor that the head refers to": {"x: &n web\napiVersion: v1\nkind: Service\nmetadata: {name: *n, namespace: shop}\n", []cluster.Object{service}},
		"comment after a separator":         {"--- # first\n" + serviceText + "---\t\n" + serviceText, []cluster.Object{service, service}},
		"an object without a name":          {"apiVersion: v1\nkind: Pod\nmetadata: {generateName: x-}\n", []cluster.Object{{APIVersion: "v1", Kind: "Pod"}}},
		"a list under metadata at column 0": {"apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: shop\n  finalizers:\n  - a\nsubsets:\n- b\n", []cluster.Object{service}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decodeRelease(stored(t, map[string]any{"manifest": test.manifest}))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.objects, test.want) {
				t.Errorf("it has %+v, want %+v", got.objects, test.want)
			}
		})
	}
}

func TestDecodeReleaseWithHooks(t *testing.T) {
	got, err := decodeRelease(stored(t, map[string]any{
		"manifest": "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n",
		"hooks":    []map[string]string{{"manifest": "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: migrate}\n"}},
		"chart":    map[string]any{"metadata": map[string]string{"name": "web", "version": "1.2.3"}, "templates": []string{"sesame"}},
		"config":   map[string]string{"password": "sesame"},
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := storedRelease{chart: "web-1.2.3", objects: []cluster.Object{
		{APIVersion: "v1", Kind: "Service", Name: "web"}, {APIVersion: "batch/v1beta1", Kind: "CronJob", Name: "migrate"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("it is %+v", got)
	}
}

func TestInvalidReleaseIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		data []byte
		want string
	}{
		"not base64": {[]byte("*"), "cannot decompress"},
		"truncated":  {stored(t, map[string]any{"manifest": strings.Repeat("x", 1000)})[:40], "cannot decompress"},
		"not JSON":   {pack(t, []byte("sesame")), "cannot decode"},
		"too large":  {pack(t, make([]byte, maxRelease+1)), "more than 64 MiB"},
		"a document that is not YAML": {
			stored(t, map[string]any{"manifest": "apiVersion: v1\nkind: Service\n---\n{sesame"}), "cannot parse 1 documents of the manifest",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodeRelease(test.data)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "sesame") {
				t.Errorf("the error contains data of the release: %v", err)
			}
		})
	}
}

func BenchmarkObjectsIn(b *testing.B) {
	one := "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n" + strings.Repeat("  - {name: a, value: b}\n", 200)
	manifest := strings.Repeat(one, 20)
	b.SetBytes(int64(len(manifest)))
	for b.Loop() {
		if objects, unread := objectsIn(manifest); len(objects) != 20 || unread != 0 {
			b.Fatal(len(objects), unread)
		}
	}
}
