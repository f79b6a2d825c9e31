package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// foreign are the kinds of other projects in examples and docs. Only their paths are checked.
var foreign = map[string]bool{
	"kustomize.config.k8s.io/v1beta1 Kustomization": true,
	"kustomize.toolkit.fluxcd.io/v1 Kustomization":  true,
	"argoproj.io/v1alpha1 Application":              true,
	"kubeadm.k8s.io/v1beta4 ClusterConfiguration":   true, // the tests of package release read it
}

func TestManifestsInExamplesAndDocsAreValid(t *testing.T) {
	manifests := manifestsIn(t)
	if len(manifests) < 10 {
		t.Fatalf("found %d manifests: this test looks at the wrong place", len(manifests))
	}
	for name, text := range manifests {
		if err := validManifest(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInvalidManifestsAreReported(t *testing.T) {
	upgrade := "apiVersion: refit.dev/v1alpha1\nkind: ClusterUpgrade\nmetadata: {name: a}\nspec:\n  target: {kubernetes: v1.36.3}\n"
	for name, tc := range map[string]struct {
		text  string
		valid bool
	}{
		"a ClusterUpgrade":       {upgrade, true},
		"an unknown field":       {upgrade + "  canary: {nodes: 1}\n", false},
		"a field of wrong type":  {upgrade + "  paused: maybe\n", false},
		"an unknown kind":        {"apiVersion: refit.dev/v1alpha1\nkind: Upgrade\n", false},
		"a path that is missing": {"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {path: ./examples/missing}\n", false},
		"a path that exists":     {"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {path: ./examples/gitops}\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			if err := validManifest(tc.text); (err == nil) != tc.valid {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

var yamlBlock = regexp.MustCompile("(?ms)^( *)```yaml\n(.*?\n) *```$")

// manifestsIn returns all Kubernetes objects of examples and docs, each by its file and number.
func manifestsIn(t *testing.T) map[string]string {
	t.Helper()
	manifests := map[string]string{}
	for _, pattern := range []string{"examples/*.yaml", "examples/*/*.yaml", "README.md", "docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i, text := range documentsOf(file, string(content)) {
				if strings.Contains("\n"+text, "\napiVersion: ") {
					manifests[fmt.Sprintf("%s, document %d", file, i+1)] = text
				}
			}
		}
	}
	return manifests
}

func documentsOf(file, content string) []string {
	if filepath.Ext(file) == ".yaml" {
		return strings.Split(content, "\n---\n")
	}
	var documents []string
	for _, match := range yamlBlock.FindAllStringSubmatch(content, -1) {
		text := strings.ReplaceAll("\n"+match[2], "\n"+match[1], "\n")
		documents = append(documents, strings.Split(text, "\n---\n")...)
	}
	return documents
}

func validManifest(text string) error {
	var kind struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
		return err
	}
	if foreign[kind.APIVersion+" "+kind.Kind] {
		return pathsExist(text)
	}
	scheme := runtime.NewScheme()
	utilruntime.Must(refitv1alpha1.AddToScheme(scheme))
	utilruntime.Must(corev1.AddToScheme(scheme))
	utilruntime.Must(rbacv1.AddToScheme(scheme))
	_, _, err := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer().Decode([]byte(text), nil, nil)
	return err
}

// pathsExist reports a path in a manifest of another project that the repository does not have.
func pathsExist(text string) error {
	var object struct {
		Spec struct {
			Path   string
			Source struct{ Path string }
		}
	}
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		return err
	}
	_, err := os.Stat(filepath.Join("../..", object.Spec.Path, object.Spec.Source.Path))
	return err
}
