package request

import (
	"regexp"
	"strings"
)

// fieldError matches an error about a field, such as "pools[0].name: ...".
var fieldError = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9]*(?:\[[^\]]*\]|\.[A-Za-z0-9]+)*): (.+)$`)

// Field splits an error of Validate into the path of the field and the problem. The path is empty
// if the error is about the spec as a whole.
func Field(err error) (path, problem string) {
	match := fieldError.FindStringSubmatch(err.Error())
	if match == nil {
		return "", err.Error()
	}
	return match[1], match[2]
}

// Pointer returns the JSON pointer of a field below a root such as #/spec. Both kinds of paths that
// Kubernetes prints are understood: pools[0].name and nodeSelector[example.com/zone].
func Pointer(root, path string) string {
	var out strings.Builder
	out.WriteString(root)
	for path != "" {
		var token string
		switch at := strings.IndexAny(path, ".["); {
		case path[0] == '[':
			end := strings.IndexByte(path, ']')
			if end < 0 {
				end = len(path)
			}
			token, path = strings.Trim(path[1:end], `"`), path[min(end+1, len(path)):]
		case at < 0:
			token, path = path, ""
		default:
			token, path = path[:at], path[at:]
		}
		path = strings.TrimPrefix(path, ".")
		out.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(token))
	}
	if out.Len() == 1 { // the document itself
		return "#"
	}
	return out.String()
}
