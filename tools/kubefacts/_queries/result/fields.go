package result

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// Fields lists the paths of all fields of a type.
func Fields(of reflect.Type) []string {
	var paths []string
	structFields(of, "", &paths)
	slices.Sort(paths)
	return slices.Compact(paths)
}

func structFields(of reflect.Type, prefix string, paths *[]string) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if options == "inline" || name == "" && field.Anonymous {
			if field.Type.Name() != "TypeMeta" {
				structFields(field.Type, prefix, paths)
			}
			continue
		}
		if name == "-" || !field.IsExported() {
			continue
		}
		if name == "" {
			name = field.Name
		}
		*paths = append(*paths, prefix+name)
		below(field.Type, prefix+name, paths)
	}
}

// below returns the type whose fields a field contains, if any: a type with its own JSON format,
// such as a duration, is one value.
func below(of reflect.Type, path string, paths *[]string) {
	if of.Implements(unmarshaler) || reflect.PointerTo(of).Implements(unmarshaler) {
		return
	}
	switch of.Kind() {
	case reflect.Pointer:
		below(of.Elem(), path, paths)
	case reflect.Struct:
		structFields(of, path+".", paths)
	case reflect.Slice, reflect.Array:
		if of.Elem().Kind() != reflect.Uint8 {
			*paths = append(*paths, path+"[]")
			below(of.Elem(), path+"[]", paths)
		}
	case reflect.Map:
		*paths = append(*paths, path+".*")
		below(of.Elem(), path+".*", paths)
	}
}
