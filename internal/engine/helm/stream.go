package helm

import (
	"bytes"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// sourceAnnotation is the template of an object of a post-renderer. Helm removes it.
const sourceAnnotation = "postrenderer.helm.sh/postrender-filename"

// A replacement is a post-renderer that replaces what Helm rendered: the plan was approved for
// these objects.
type replacement []Object

// Run implements Helm's PostRenderer.
func (r replacement) Run(*bytes.Buffer) (*bytes.Buffer, error) {
	annotated := make([]Object, 0, len(r))
	for _, object := range r {
		object.Content = object.Content.DeepCopy()
		annotate(object.Content, map[string]string{sourceAnnotation: object.Source})
		annotated = append(annotated, object)
	}
	text, err := streamOf(annotated)
	return bytes.NewBufferString(text), err
}

// streamOf writes objects as YAML documents.
func streamOf(objects []Object) (string, error) {
	var text strings.Builder
	for _, object := range objects {
		document, err := yaml.Marshal(object.Content.Object)
		if err != nil {
			return "", fmt.Errorf("cannot write %s: %w", object.Ref, err)
		}
		text.WriteString("---\n# Source: " + object.Source + "\n")
		text.Write(document)
	}
	return text.String(), nil
}
