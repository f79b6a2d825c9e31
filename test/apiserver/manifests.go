package apiserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// readManifests reads the objects of all YAML files of a folder, in the order of the file names. A
// folder without any is an error.
func readManifests(dir string) ([]*unstructured.Unstructured, error) {
	var files []string
	for _, pattern := range []string{"*.yaml", "*.yml"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, fmt.Errorf("looking for manifests: %w", err)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	var objects []*unstructured.Unstructured
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading manifest: %w", err)
		}
		found, err := decodeManifest(text)
		if err != nil {
			return nil, fmt.Errorf("reading manifest %s: %w", file, err)
		}
		objects = append(objects, found...)
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("there is no object in any YAML file of %s", dir)
	}
	return objects, nil
}

// decodeManifest reads the documents of one file, and skips empty ones.
func decodeManifest(text []byte) ([]*unstructured.Unstructured, error) {
	const peek = 4096 // to detect JSON
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), peek); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}
