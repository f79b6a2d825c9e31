package plan_test

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"os"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// schema is the OpenAPI schema of a part of a CRD, with the keywords that Refit's CRDs use.
type schema struct {
	Type                 string            `json:"type"`
	Properties           map[string]schema `json:"properties"`
	AdditionalProperties *schema           `json:"additionalProperties"`
	Items                *schema           `json:"items"`
	Required             []string          `json:"required"`
	Enum                 []string          `json:"enum"`
	Pattern              string            `json:"pattern"`
	MinLength            int               `json:"minLength"`
	MaxLength            *int              `json:"maxLength"`
	MaxItems             *int              `json:"maxItems"`
	Minimum              *float64          `json:"minimum"`
	Maximum              *float64          `json:"maximum"`
}

// statusSchema reads the schema of the status of a CRD.
func statusSchema(file string) (schema, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return schema{}, err
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return schema{}, err
	}
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"], nil
}

// accepted has the hashes of accepted statuses: simulations write the same ones again and again. It
// is bounded, since each of 100,000 simulations writes new ones as well.
var (
	accepted [1 << 16]atomic.Uint64
	seed     = maphash.MakeSeed()
)

// check returns what the API refuses in an object.
func (s *schema) check(object any) []string {
	text, err := json.Marshal(object)
	if err != nil {
		return []string{err.Error()}
	}
	hash := maphash.Bytes(seed, text)
	known := &accepted[hash%uint64(len(accepted))]
	if known.Load() == hash {
		return nil
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return []string{err.Error()}
	}
	wrong := s.at("status", value)
	if len(wrong) == 0 {
		known.Store(hash)
	}
	return wrong
}

func (s *schema) at(path string, value any) (wrong []string) {
	refuse := func(format string, args ...any) { wrong = append(wrong, path+": "+fmt.Sprintf(format, args...)) }
	switch v := value.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, has := v[name]; !has {
				refuse("%s is required", name)
			}
		}
		for name, part := range v {
			of, known := s.Properties[name]
			switch {
			case known:
				wrong = append(wrong, of.at(path+"."+name, part)...)
			case s.AdditionalProperties == nil:
				refuse("%s is unknown", name)
			}
		}
	case []any:
		if s.MaxItems != nil && len(v) > *s.MaxItems {
			refuse("%d items, the maximum is %d", len(v), *s.MaxItems)
		}
		for i, item := range v {
			wrong = append(wrong, s.Items.at(fmt.Sprintf("%s[%d]", path, i), item)...)
		}
	case string:
		wrong = append(wrong, s.text(path, v)...)
	case float64:
		if s.Minimum != nil && v < *s.Minimum || s.Maximum != nil && v > *s.Maximum {
			refuse("%v is out of bounds", v)
		}
	}
	return wrong
}

// patterns are compiled once: simulations run in parallel and check thousands of statuses.
var patterns sync.Map

func pattern(text string) *regexp.Regexp {
	if known, ok := patterns.Load(text); ok {
		return known.(*regexp.Regexp)
	}
	compiled := regexp.MustCompile(text)
	patterns.Store(text, compiled)
	return compiled
}

func (s *schema) text(path, v string) (wrong []string) {
	length := utf8.RuneCountInString(v)
	switch {
	case length < s.MinLength, s.MaxLength != nil && length > *s.MaxLength:
		wrong = append(wrong, fmt.Sprintf("%s: %d characters: %q", path, length, v))
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, v):
		wrong = append(wrong, fmt.Sprintf("%s: %q is not in %v", path, v, s.Enum))
	case s.Pattern != "" && !pattern(s.Pattern).MatchString(v):
		wrong = append(wrong, fmt.Sprintf("%s: %q does not match %s", path, v, s.Pattern))
	}
	return wrong
}
