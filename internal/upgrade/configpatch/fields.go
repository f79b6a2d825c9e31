package configpatch

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

// Field is the path of a field, such as apiServer.extraArgs.goaway-chance.
type Field string

// Values are the values of fields. An argument can have several; a missing field has none.
type Values map[Field][]string

// section is a part of the ClusterConfiguration whose entries are fields.
type section string

const (
	apiServerArgs         section = "apiServer.extraArgs"
	controllerManagerArgs section = "controllerManager.extraArgs"
	schedulerArgs         section = "scheduler.extraArgs"
	etcdArgs              section = "etcd.local.extraArgs"
	featureGates          section = "featureGates"
)

// Sections returns all that a ClusterRelease can set.
func Sections() []string {
	var out []string
	for _, s := range sections {
		out = append(out, string(s))
	}
	return out
}

var sections = []section{apiServerArgs, controllerManagerArgs, schedulerArgs, etcdArgs, featureGates}

// components are the components whose flags are known, by section.
var components = map[section]string{
	apiServerArgs: kubefacts.KubeAPIServer, controllerManagerArgs: kubefacts.KubeControllerManager, schedulerArgs: kubefacts.KubeScheduler,
}

func (s section) field(name string) Field { return Field(string(s) + "." + name) }

// path returns the names on the way to the section.
func (s section) path() []string { return strings.Split(string(s), ".") }

// split returns the section of a field and its name in it. Names have no dots in them, but a
// ClusterConfiguration can contain anything.
func (f Field) split() (section, string) {
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
		s, _ := f.split()
		return s == etcdArgs
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

// Of returns the fields of a signed patch, none of nil.
func Of(patch *refitv1alpha1.ClusterConfigurationPatch) Values {
	out := Values{}
	if patch == nil {
		return out
	}
	args := map[section]*refitv1alpha1.ControlPlaneComponentPatch{
		apiServerArgs: patch.APIServer, controllerManagerArgs: patch.ControllerManager, schedulerArgs: patch.Scheduler,
	}
	if patch.Etcd != nil {
		args[etcdArgs] = patch.Etcd.Local
	}
	for s, component := range args {
		if component == nil {
			continue
		}
		for _, arg := range component.ExtraArgs {
			out[s.field(arg.Name)] = append(out[s.field(arg.Name)], arg.Value)
		}
	}
	for name, on := range patch.FeatureGates {
		out[featureGates.field(name)] = []string{strconv.FormatBool(on)}
	}
	return out
}
