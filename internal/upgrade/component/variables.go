package component

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Variables are the values that a recipe can refer to.
type Variables struct {
	From, To string
	// Images are the images of the new version by the last part of their names.
	Images map[string]string
}

var variable = regexp.MustCompile(`\$\{([^}]*)\}`)

// ImagesByName returns images by the last part of their names, without tags and digests.
func ImagesByName(images []string) map[string]string {
	out := map[string]string{}
	for _, image := range images {
		name, _, _ := strings.Cut(image, "@")
		name, _, _ = strings.Cut(path.Base(name), ":")
		out[name] = image
	}
	return out
}

// Expand replaces ${from}, ${to} and ${image:NAME} in a text.
func (v Variables) Expand(text string) (string, error) {
	var failed error
	out := variable.ReplaceAllStringFunc(text, func(match string) string {
		name := match[2 : len(match)-1]
		image, isImage := strings.CutPrefix(name, "image:")
		switch {
		case name == "from":
			return v.From
		case name == "to":
			return v.To
		case isImage && v.Images[image] != "":
			return v.Images[image]
		case isImage:
			failed = fmt.Errorf("the chart has no image %s", image)
		default:
			failed = fmt.Errorf("unknown variable %s", match)
		}
		return match
	})
	return out, failed
}

// validateVariables requires that a text has only variables that exist.
func validateVariables(text string) error {
	for _, match := range variable.FindAllStringSubmatch(text, -1) {
		if name := match[1]; name != "from" && name != "to" && !strings.HasPrefix(name, "image:") {
			return fmt.Errorf("unknown variable %s", match[0])
		}
	}
	return nil
}
