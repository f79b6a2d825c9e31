//go:build apiserver

package api

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/apiserver"
)

// TestEveryBoundIsEnforced takes an object that has every field, and exceeds one bound after the
// other. TestTheLargestObjects proves that a value at its bound is accepted.
func TestEveryBoundIsEnforced(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		all := definitions(t)
		for _, kind := range sorted(all) {
			t.Run(kind, func(t *testing.T) {
				stored := made(t, s, sampler{kind: kind}.object(t, "bounds"))
				client := objects(t, s.RESTConfig(), kind)
				broken := 0
				for _, b := range breaches(all[kind].root()) {
					broken++
					wanted := stored.DeepCopy()
					if leaf, ok := strings.CutPrefix(b.path, "spec.target."); ok { // exactly one of two
						wanted.Object["spec"].(map[string]any)["target"] = object{leaf: ""}
					}
					if b.path == "status.failures[].component" { // a node or a component
						failures := wanted.Object["status"].(map[string]any)["failures"].([]any)
						delete(failures[0].(map[string]any), "node")
						failures[0].(map[string]any)["component"] = ""
					}
					useStore(wanted.Object["spec"].(map[string]any), b.path)
					if !replace(wanted.Object, strings.Split(b.path, "."), b.value) {
						t.Fatalf("the sample has no %s", b.path)
					}
					var err error
					if strings.HasPrefix(b.path, "status") {
						_, err = client.UpdateStatus(t.Context(), wanted, metav1.UpdateOptions{DryRun: dryRun})
					} else {
						wanted.SetResourceVersion("")
						wanted.SetUID("")
						wanted.SetName("bounds-again")
						_, err = client.Create(t.Context(), wanted, metav1.CreateOptions{DryRun: dryRun})
					}
					where := strings.ReplaceAll(strings.ReplaceAll(b.path, "[]", "[0]"), "{}", "")
					if b.refused == "" { // by a rule, which may be further up
						where, _, _ = strings.Cut(b.path, "[")
					}
					if err == nil || !strings.Contains(err.Error(), where) || !strings.Contains(err.Error(), b.refused) {
						t.Errorf("%s, %s: the server says %v", b.path, b.how, err)
					}
				}
				if broken == 0 {
					t.Error("there is nothing to break")
				}
			})
		}
	})
}

// useStore replaces the store of a BackupStore, which has exactly one, by the one of a path, and in
// the same way the timing of an UpgradeSchedule and the permit of an order.
func useStore(spec map[string]any, path string) {
	switch {
	case strings.HasPrefix(path, "spec.gcs."):
		delete(spec, "s3")
		spec["gcs"] = object{"bucket": "backups", "endpoint": "https://gcs.example.com"}
	case path == "spec.notAfter" && spec["backup"] != nil: // an order to back up etcd
		delete(spec, "backup")
		spec["permit"], spec["format"], spec["notAfter"] = "Apply", int64(3), now
	case path == "spec.at":
		delete(spec, "cron")
		spec["at"] = now
	case strings.HasPrefix(path, "spec.path."):
		delete(spec, "s3")
		delete(spec, "credentials")
		spec["path"] = object{"directory": "/mnt/backups"}
	}
}

// A breach is a value that exceeds a bound.
type breach struct {
	path, how string
	value     any // nil: no value; a function: of the current value
	refused   string
}

func breaches(root *shape) []breach {
	var all []breach
	walk("", root, func(path string, s *shape) {
		if !strings.HasPrefix(path, "spec") && !strings.HasPrefix(path, "status") {
			return
		}
		add := func(how string, value any, refused string) { all = append(all, breach{path, how, value, refused}) }
		if s.MaxLength != nil && !s.IntOrString {
			add("too long", strings.Repeat("a", *s.MaxLength+1), "Too long")
		}
		if s.MinLength > 0 {
			add("too short", "", "should be at least")
		}
		if s.Pattern != "" {
			add("against the pattern", "@", "should match")
		}
		if s.Format == "date-time" {
			add("a time that is none", "yesterday", "date-time")
			add("a time that Go cannot read", "2026-01-02t03:04:05z", "")
			add("a time with a tail", "2026-01-02T03:04:05ZTail", "")
		}
		if s.Format == "byte" {
			add("not base64", "!!!!", "byte")
		}
		if len(s.Enum) > 0 {
			add("an unknown word", "Nonsense", "Unsupported value")
		}
		if s.MaxItems != nil {
			add("too many", func(old any) any {
				var items list
				for range *s.MaxItems + 1 {
					items = append(items, old.([]any)[0])
				}
				return items
			}, "Too many")
		}
		if s.MaxProperties != nil {
			add("too many", func(old any) any {
				more := object{}
				for _, value := range old.(map[string]any) {
					for i := range *s.MaxProperties + 1 {
						more[fmt.Sprint("k", i)] = value
					}
				}
				return more
			}, "Too many")
		}
		if s.Type == "integer" {
			add("more than Go can read", 1e20, "")
			add("a fraction", 1.5, "")
		}
		if s.Minimum != nil {
			add("too low", *s.Minimum-1, "should be greater than or equal to")
		}
		if s.Maximum != nil {
			add("too high", *s.Maximum+1, "should be less than or equal to")
		}
		for _, name := range s.Required {
			all = append(all, breach{path + "." + name, "not there", nil, "Required value"})
		}
	})
	return all
}

// replace sets the value at a path: in the first item of a list, under the only key of a map.
func replace(at map[string]any, path []string, value any) bool {
	name := strings.TrimSuffix(strings.TrimSuffix(path[0], "[]"), "{}")
	old, ok := at[name]
	if !ok {
		return false
	}
	fit := func(old any) any {
		if change, ok := value.(func(any) any); ok {
			return change(old)
		}
		return value
	}
	last := len(path) == 1
	switch inner := old.(type) {
	case []any:
		if !strings.HasSuffix(path[0], "[]") {
			break
		}
		if last {
			inner[0] = fit(inner[0])
			return true
		}
		return replace(inner[0].(map[string]any), path[1:], value)
	case map[string]any:
		if strings.HasSuffix(path[0], "{}") {
			for key := range inner {
				inner[key] = fit(inner[key])
			}
			return true
		}
		if !last {
			return replace(inner, path[1:], value)
		}
	}
	if !last {
		return false
	}
	if value == nil {
		delete(at, name)
		return true
	}
	at[name] = fit(old)
	return true
}
