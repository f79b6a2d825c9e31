package helm

import (
	"maps"
	"slices"
)

// imagesOf returns the images of all containers and image volumes, sorted. It also finds those of
// Pod templates inside custom resources.
func imagesOf(objects []Object) []string {
	found := map[string]bool{}
	for _, object := range objects {
		collectImages(object.Content.Object, found)
	}
	return slices.Sorted(maps.Keys(found))
}

func collectImages(node any, found map[string]bool) {
	switch node := node.(type) {
	case map[string]any:
		for key, value := range node {
			switch key {
			case "containers", "initContainers", "ephemeralContainers":
				collectField(value, found, "image")
			case "volumes":
				collectField(value, found, "image", "reference")
			}
			collectImages(value, found)
		}
	case []any:
		for _, value := range node {
			collectImages(value, found)
		}
	}
}

// collectField adds a field of each item of a list.
func collectField(list any, found map[string]bool, path ...string) {
	items, _ := list.([]any)
	for _, item := range items {
		value := item
		for _, name := range path {
			fields, _ := value.(map[string]any)
			value = fields[name]
		}
		if text, ok := value.(string); ok && text != "" {
			found[text] = true
		}
	}
}
