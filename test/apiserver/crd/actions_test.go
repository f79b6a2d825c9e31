//go:build apiserver

package crd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/refit-dev/refit/internal/engine/crd"
	"github.com/refit-dev/refit/test/apiserver"
	"github.com/refit-dev/refit/test/testbed/figure"
)

const actionTimeout = 20 * time.Minute // the machine may be busy

var groups atomic.Int64

// A lane upgrades the CRDs of one group and rolls them back.
type lane struct {
	*world
	t       *testing.T
	config  *rest.Config
	etcd    *clientv3.Client
	group   string
	changes []crd.Change
}

func newLane(t *testing.T) *lane {
	t.Helper()
	server := apiserver.Shared(t, apiserver.Options{})
	config := server.RESTConfig()
	config.WarningHandler = rest.NoWarnings{}
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{server.EtcdEndpoint()}, DialTimeout: checkTimeout})
	must(t, err)
	t.Cleanup(func() { _ = etcd.Close() })
	return &lane{world: newWorld(t, server), t: t, config: config, etcd: etcd, group: fmt.Sprintf("lane%d.example.com", groups.Add(1))}
}

func (l *lane) bounded() context.Context {
	ctx, cancel := context.WithTimeout(l.t.Context(), actionTimeout)
	l.t.Cleanup(cancel)
	return ctx
}

func (l *lane) actor(k *apiserver.Killer) *crd.Actor {
	l.t.Helper()
	actor, err := crd.NewActor(k.Config(l.config), "refit")
	must(l.t, err)
	return actor
}

type properties = map[string]apiextensionsv1.JSONSchemaProps

var text = apiextensionsv1.JSONSchemaProps{Type: "string"}

// version returns a served version whose spec has fields.
func version(name string, fields properties) apiextensionsv1.CustomResourceDefinitionVersion {
	return apiextensionsv1.CustomResourceDefinitionVersion{
		Name: name, Served: true,
		Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: properties{
			"spec":   {Type: "object", Properties: fields},
			"status": {Type: "object", Properties: properties{"phase": text}},
		}}},
	}
}

// crd returns a CRD; its last version is the storage version.
func (l *lane) crd(kind string, versions ...apiextensionsv1.CustomResourceDefinitionVersion) *crd.Definition {
	plural := strings.ToLower(kind) + "s"
	d := &crd.Definition{ObjectMeta: metav1.ObjectMeta{Name: plural + "." + l.group}}
	d.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: l.group, Scope: apiextensionsv1.NamespaceScoped, Versions: versions,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: kind},
	}
	versions[len(versions)-1].Storage = true
	return d
}

func resourceOf(definition *crd.Definition, version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: definition.Spec.Group, Version: version, Resource: definition.Spec.Names.Plural}
}

// object returns an object of a CRD.
func (l *lane) object(definition *crd.Definition, version, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetAPIVersion(definition.Spec.Group + "/" + version)
	o.SetKind(definition.Spec.Names.Kind)
	o.SetNamespace("default")
	o.SetName(name)
	return o
}

// save saves CRDs and remembers their changes.
func (l *lane) save(to ...*crd.Definition) {
	l.t.Helper()
	var names []string
	for _, definition := range to {
		names = append(names, definition.Name)
	}
	saved, err := l.actor(&apiserver.Killer{}).Save(l.bounded(), names...)
	must(l.t, err)
	content, err := saved.Encode()
	must(l.t, err)
	saved, err = crd.DecodeSaved(content)
	must(l.t, err)
	l.changes = saved.Changes(to...)
}

// An action is a step of an upgrade or of a rollback.
type action struct {
	name string
	run  func(ctx context.Context, actor *crd.Actor) error
}

func (l *lane) expand() action {
	return action{"expand", func(ctx context.Context, actor *crd.Actor) error {
		_, err := actor.Expand(ctx, l.changes)
		return err
	}}
}

func (l *lane) commit() action {
	return action{"commit", func(ctx context.Context, actor *crd.Actor) error {
		return actor.Commit(ctx, l.changes, crd.CommitOptions{Rewrite: true})
	}}
}

func (l *lane) unflip() action {
	return action{"unflip", func(ctx context.Context, actor *crd.Actor) error {
		return actor.Unflip(ctx, l.changes, crd.UnflipOptions{})
	}}
}

func (l *lane) restore() action {
	return action{"restore", func(ctx context.Context, actor *crd.Actor) error {
		_, err := actor.Restore(ctx, l.changes, crd.RestoreOptions{Guard: func(context.Context, []string) error { return nil }})
		return err
	}}
}

// run runs an action in a process that is killed, and repeats it in another one. It reports whether
// the first was killed.
func (l *lane) run(a action, k *apiserver.Killer) bool {
	l.t.Helper()
	ctx, cancel := context.WithCancel(l.bounded())
	defer cancel()
	k.Die = cancel
	err := a.run(ctx, l.actor(k))
	if !k.Dead() {
		must(l.t, err)
		return false
	}
	must(l.t, a.run(l.bounded(), l.actor(&apiserver.Killer{})))
	return true
}

func (l *lane) clean(a action) (writes int) {
	l.t.Helper()
	k := &apiserver.Killer{}
	l.run(a, k)
	return k.Writes()
}

// state returns all CRDs and objects of the group as etcd has them, apart from what differs between
// equal states. Objects are complete, with the version in which they are stored.
func (l *lane) state() string {
	l.t.Helper()
	var documents []string
	list, err := l.client.Resource(definitions).List(l.t.Context(), metav1.ListOptions{})
	must(l.t, err)
	for i := range list.Items {
		if d := &list.Items[i]; strings.HasSuffix(d.GetName(), "."+l.group) {
			documents = append(documents, stableDefinition(l.t, d))
		}
	}
	stored := l.stored()
	for _, key := range slices.Sorted(maps.Keys(stored)) {
		documents = append(documents, key+": "+stored[key])
	}
	return strings.Join(documents, "\n")
}

func stableDefinition(t *testing.T, d *unstructured.Unstructured) string {
	t.Helper()
	metadata := d.Object["metadata"].(map[string]any)
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
		delete(metadata, field)
	}
	status := d.Object["status"].(map[string]any)
	content, err := yaml.Marshal(map[string]any{"metadata": metadata, "spec": d.Object["spec"], "storedVersions": status["storedVersions"]})
	must(t, err)
	return string(content)
}

// stored returns the bytes of all objects of the group in etcd.
func (l *lane) stored() map[string]string {
	l.t.Helper()
	response, err := l.etcd.Get(l.t.Context(), "/registry/"+l.group+"/", clientv3.WithPrefix())
	must(l.t, err)
	found := map[string]string{}
	for _, kv := range response.Kvs {
		found[string(kv.Key)] = string(kv.Value)
	}
	return found
}

func report(t *testing.T, name string, value float64, unit string) {
	t.Helper()
	must(t, figure.Print(name, value, unit))
}

// upgrade is what most tests upgrade: one CRD for each way in which storage versions change, and a
// new one.
func (l *lane) upgrade() {
	l.t.Helper()
	conversion, _ := webhook(l.t)
	within := []*crd.Definition{
		l.crd("Within", version("v1", properties{"a": text, "b": text})),
		l.crd("Within", version("v1", properties{"a": text, "b": text}), version("v2", properties{"a": text})),
	}
	beyond := []*crd.Definition{
		l.crd("Beyond", version("v1", properties{"a": text})),
		l.crd("Beyond", version("v1", properties{"a": text}), version("v2", properties{"a": text, "extra": text})),
	}
	converted := []*crd.Definition{
		l.crd("Converted", version("v1", properties{"text": text})),
		l.crd("Converted", version("v1", properties{"text": text}), version("v2", properties{"message": text, "extra": text})),
	}
	converted[1].Spec.Conversion = conversion
	wider := []*crd.Definition{l.crd("Wider", version("v1", properties{"a": text})), l.crd("Wider", version("v1", properties{"a": text, "b": text}))}
	var to []*crd.Definition
	for _, pair := range [][]*crd.Definition{within, beyond, converted, wider} {
		pair[0].Labels = map[string]string{"version": "1", "old": "1"}
		pair[1].Labels = map[string]string{"version": "2", "new": "2"}
		old := l.define(l.t, pair[0])
		for i := range objectsOfEach {
			spec := map[string]any{"a": fmt.Sprint(i)}
			if pair[0] == converted[0] {
				spec = map[string]any{"text": fmt.Sprint(i)}
			}
			object := l.object(old, "v1", fmt.Sprintf("object-%d", i), spec)
			object.Object["status"] = map[string]any{"phase": "Ready"}
			l.create(l.t, old, object)
		}
		to = append(to, pair[1])
	}
	to = append(to, l.crd("Added", version("v1", properties{"a": text})))
	l.save(to...)
}

const objectsOfEach = 3
