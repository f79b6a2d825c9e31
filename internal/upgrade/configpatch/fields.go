package configpatch

import (
	"maps"
	"slices"
	"strings"
)

// Field is the path of a field, such as apiServer.extraArgs.goaway-chance.
type Field string

// Values are the values of fields. An argument can have several; a missing field has none.
type Values map[Field][]string

// Section is a part of the ClusterConfiguration whose entries are fields.
type Section string

// The sections that a ClusterRelease can set.
const (
	APIServerArgs         Section = "apiServer.extraArgs"
	ControllerManagerArgs Section = "controllerManager.extraArgs"
	SchedulerArgs         Section = "scheduler.extraArgs"
	EtcdArgs              Section = "etcd.local.extraArgs"
	FeatureGates          Section = "featureGates"
)

// Sections returns all that a ClusterRelease can set.
func Sections() []string {
	var out []string
	for _, s := range sections {
		out = append(out, string(s))
	}
	return out
}

var sections = []Section{APIServerArgs, ControllerManagerArgs, SchedulerArgs, EtcdArgs, FeatureGates}

// Field returns the field with this name in the section.
func (s Section) Field(name string) Field { return Field(string(s) + "." + name) }

// path returns the names on the way to the section.
func (s Section) path() []string { return strings.Split(string(s), ".") }

// Split returns the section of a field and its name in it. Names have no dots in them, but a
// ClusterConfiguration can contain anything.
func (f Field) Split() (Section, string) {
	for _, s := range sections {
		if name, found := strings.CutPrefix(string(f), string(s)+"."); found {
			return s, name
		}
	}
	return "", string(f)
}

// Fields returns the fields, sorted.
func (v Values) Fields() []Field { return slices.Sorted(maps.Keys(v)) }

// Texts returns the fields with their values, sorted, as they are shown.
func (v Values) Texts() []string {
	var out []string
	for _, field := range v.Fields() {
		out = append(out, field.text(v[field]))
	}
	return out
}

func (f Field) text(values []string) string { return string(f) + "=" + strings.Join(values, ",") }

// WithoutEtcd returns the values that a cluster with external etcd can have.
func (v Values) WithoutEtcd() Values {
	out := maps.Clone(v)
	maps.DeleteFunc(out, func(f Field, _ []string) bool {
		s, _ := f.Split()
		return s == EtcdArgs
	})
	return out
}

// Known returns the fields that signed patches have. A value that is in none of them is an empty
// text: it may be a secret, and no patch sets the empty text.
func (v Values) Known(signed ...Values) Values {
	out := Values{}
	for _, patch := range signed {
		for field, values := range patch {
			switch own, there := v[field]; {
			case !there:
			case slices.Equal(own, values):
				out[field] = own
			case out[field] == nil:
				out[field] = []string{""}
			}
		}
	}
	return out
}
