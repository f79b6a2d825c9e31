//go:build apiserver

package crd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/internal/engine/crd/crdtest"
	"github.com/refit-dev/refit/test/apiserver"
)

// chart is a pair of versions of a real project.
type chart struct {
	module, from, to string
	crds             string
	// kinds is the least number of CRDs that both versions have.
	kinds int
	// lost are the fields that the upgrade drops from objects that have them: true findings.
	lost []string
}

var charts = []chart{
	{module: "sigs.k8s.io/lws", from: "v0.7.0", to: "v0.8.0", crds: "config/crd/bases", kinds: 1},
	{module: "sigs.k8s.io/kueue", from: "v0.14.0", to: "v0.15.0", crds: "charts/kueue/templates/crd", kinds: 11},
	{module: "github.com/liqotech/liqo", from: "v1.1.2", to: "v1.2.0", crds: "deployments/liqo/charts/liqo-crds/crds", kinds: 28},
	{module: "sigs.k8s.io/node-feature-discovery", from: "v0.17.3", to: "v0.18.2", crds: "deployment/helm/node-feature-discovery/crds", kinds: 3},
	{module: "github.com/cert-manager/cert-manager", from: "v1.10.2", to: "v1.11.5", crds: "deploy/crds", kinds: 6},
}

// TestUpgradesOfRealChartsAreNotBlocked judges real upgrades with objects of each kind: the
// examples of the project, and objects made from the schema. The verdicts are also those of a
// server.
func TestUpgradesOfRealChartsAreNotBlocked(t *testing.T) {
	if !full() {
		t.Skip("it takes minutes: run make e2e-components-full")
	}
	w := newWorld(t, apiserver.Shared(t, apiserver.Options{Version: slices.Max(apiserver.Versions(t))}))
	for _, c := range charts {
		t.Run(path.Base(c.module), func(t *testing.T) {
			from, to := module(t, c.module, c.from), module(t, c.module, c.to)
			before, after := definitionsOf(t, from, c.crds), definitionsOf(t, to, c.crds)
			kinds, objects, examples := 0, 0, 0
			for name, old := range before {
				if after[name] == nil {
					continue
				}
				kinds++
				found := examplesOf(t, from, old)
				live := append(samples(t, old), found...)
				objects, examples = objects+len(live), examples+len(found)
				t.Run(name, func(t *testing.T) { judgeChart(t, w, c, old, after[name], live) })
			}
			t.Logf("%d kinds, %d objects, %d of them examples of the project", kinds, objects, examples)
			if kinds < c.kinds || objects < kinds {
				t.Errorf("%d kinds with %d objects, want at least %d kinds with one each", kinds, objects, c.kinds)
			}
		})
	}
}

func judgeChart(t *testing.T, w *world, c chart, before, after *crd.Definition, objects []*unstructured.Unstructured) {
	t.Helper()
	if len(objects) == 0 {
		t.Error("no object of this kind was found or made")
	}
	report, err := crd.Judge(t.Context(), crd.Change{Old: before, New: after}, nil, each(objects))
	must(t, err)
	for _, f := range report.Findings {
		if f.Severity == crd.Block && !slices.Contains(c.lost, before.Spec.Names.Kind+" "+f.Field) {
			t.Errorf("the upgrade is blocked: %+v", f)
		}
	}
	_, decision := crd.Expand(crd.Change{Old: before, New: after})
	t.Logf("%d objects, %d findings; %s", report.Objects, report.Total, decision.Message)
	var count verdicts
	compare(t, w, crdtest.Case{Name: before.Spec.Names.Plural + "-" + path.Base(c.module), Old: before.DeepCopy(), New: after.DeepCopy(), Objects: copies(objects)}, &count)
}

// TestRollbackOfAWidenedEnumIsRefused uses the value that a new version added.
func TestRollbackOfAWidenedEnumIsRefused(t *testing.T) {
	if !full() {
		t.Skip("it takes minutes: run make e2e-components-full")
	}
	c := charts[slices.IndexFunc(charts, func(c chart) bool { return path.Base(c.module) == "node-feature-discovery" })]
	from, to := module(t, c.module, c.from), module(t, c.module, c.to)
	const name = "nodefeaturerules.nfd.k8s-sigs.io"
	change := crd.Change{Old: definitionsOf(t, to, c.crds)[name], New: definitionsOf(t, from, c.crds)[name]}
	rule := func(op string) *unstructured.Unstructured {
		object := &unstructured.Unstructured{}
		must(t, object.UnmarshalJSON(fmt.Appendf(nil, `{"apiVersion": "nfd.k8s-sigs.io/v1alpha1", "kind": "NodeFeatureRule", "metadata": {"name": %q},
			"spec": {"rules": [{"name": "r", "labels": {"a": "b"}, "matchFeatures": [{"feature": "cpu.cpuid", "matchExpressions": {"X": {"op": %q, "value": ["1"]}}}]}]}}`,
			strings.ToLower(op), op)))
		return object
	}
	report, err := crd.Judge(t.Context(), change, nil, each([]*unstructured.Unstructured{rule("In"), rule("Ge")}))
	must(t, err)
	if report.Total != 1 || report.Refused != 1 || report.Findings[0].Object != "ge" || report.Findings[0].Defect != crd.SchemaTightened {
		t.Errorf("the rollback has %d findings: %+v", report.Total, report.Findings)
	}
}

func copies(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, o := range objects {
		all = append(all, o.DeepCopy())
	}
	return all
}

func each(objects []*unstructured.Unstructured) crd.Objects {
	return func(yield func(*unstructured.Unstructured, error) bool) {
		for _, o := range objects {
			if !yield(o, nil) {
				return
			}
		}
	}
}

// module returns the files of a module from the module cache, and skips the test if neither the
// cache nor a proxy has it.
func module(t *testing.T, name, version string) fs.FS {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", name+"@"+version)
	cmd.Dir = t.TempDir() // outside of this module, whose go.mod must not change
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var downloaded struct{ Dir, Error string }
	_ = json.Unmarshal(out, &downloaded)
	if downloaded.Dir == "" {
		t.Skipf("%s@%s is not available: %v %s %s", name, version, err, downloaded.Error, stderr.String())
	}
	return os.DirFS(downloaded.Dir)
}

var (
	templateComment = regexp.MustCompile(`(?s)\{\{-?\s*/\*.*?\*/\s*-?\}\}`)
	templateLine    = regexp.MustCompile(`(?m)^\s*#?\s*\{\{.*\}\}\s*$`)
	templateValue   = regexp.MustCompile(`\{\{.*?\}\}`)
)

// definitionsOf returns the CRDs of a folder by name. Values of a chart are replaced by a name.
func definitionsOf(t *testing.T, files fs.FS, folder string) map[string]*crd.Definition {
	t.Helper()
	names, err := fs.Glob(files, path.Join(folder, "*.yaml"))
	must(t, err)
	found := map[string]*crd.Definition{}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		must(t, err)
		text = templateComment.ReplaceAll(text, nil)
		text = templateLine.ReplaceAll(text, nil)
		text = templateValue.ReplaceAll(text, []byte("x"))
		must(t, documents(text, func(document []byte) {
			definition := &crd.Definition{}
			if err := json.Unmarshal(document, definition); err == nil && definition.Kind == "CustomResourceDefinition" {
				apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&definition.Spec)
				definition.Status.StoredVersions = []string{crd.StorageVersion(definition)}
				definition.ResourceVersion = "1"
				definition.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
				definition.Labels, definition.Annotations = nil, map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: "unapproved, a copy for a test"}
				found[definition.Name] = definition
			}
		}))
	}
	return found
}

// examplesOf returns the examples of a kind in the files of its project that its CRD accepts; the
// rest are examples of errors, or of versions that need a conversion.
func examplesOf(t *testing.T, files fs.FS, definition *crd.Definition) []*unstructured.Unstructured {
	t.Helper()
	var found []*unstructured.Unstructured
	version := definition.Spec.Group + "/" + crd.StorageVersion(definition)
	schema, err := crd.Compile(definition, crd.StorageVersion(definition))
	must(t, err)
	must(t, fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil || !bytes.Contains(text, []byte("kind: "+definition.Spec.Names.Kind)) || bytes.Contains(text, []byte("{{")) {
			return err
		}
		return ignoreMalformed(documents(text, func(document []byte) {
			object := &unstructured.Unstructured{}
			if object.UnmarshalJSON(document) != nil || object.GetAPIVersion() != version || object.GetKind() != definition.Spec.Names.Kind {
				return
			}
			object.Object["metadata"] = map[string]any{"name": fmt.Sprintf("example-%d", len(found))}
			if definition.Spec.Scope == apiextensionsv1.NamespaceScoped {
				object.SetNamespace("default")
			}
			if verdict := schema.Check(t.Context(), object); len(verdict.Refusals)+len(verdict.Dropped) == 0 {
				found = append(found, verdict.Object) // live objects have all defaults
			}
		}))
	}))
	return found
}

var errMalformed = errors.New("malformed YAML")

func ignoreMalformed(err error) error {
	if errors.Is(err, errMalformed) {
		return nil
	}
	return err
}

// documents calls a function with each document of a YAML file, as JSON.
func documents(text []byte, use func([]byte)) error {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var raw json.RawMessage
		err := decoder.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errMalformed, err)
		}
		if len(raw) > 0 {
			use(raw)
		}
	}
}
