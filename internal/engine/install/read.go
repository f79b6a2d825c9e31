package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// readFolder reads the objects of all YAML files of a folder. It fails if there are none.
func readFolder(manifests fs.FS, folder string) ([]*unstructured.Unstructured, error) {
	files, err := fs.Glob(manifests, folder+"/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("cannot list the manifests of %s: %w", folder, err)
	}
	var objects []*unstructured.Unstructured
	for _, file := range files {
		text, err := fs.ReadFile(manifests, file)
		if err != nil {
			return nil, fmt.Errorf("cannot read a manifest: %w", err)
		}
		found, err := decode(text)
		if err != nil {
			return nil, fmt.Errorf("cannot parse manifest %s: %w", file, err)
		}
		objects = append(objects, found...)
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("no manifests in %s", folder)
	}
	return objects, nil
}

// decode parses the documents of one file.
func decode(text []byte) ([]*unstructured.Unstructured, error) {
	const peek = 4096 // enough to detect JSON
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
