package crd

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Change is the replacement of one definition by another. For a rollback, Old is the definition in
// the cluster, with its status, and New is the one to return to.
type Change struct {
	Old, New *Definition
}

// Objects are the live objects. A sequence may read them in pages, so that few are in memory; it
// ends with the first error.
type Objects = iter.Seq2[*unstructured.Unstructured, error]

// Judge returns what is wrong with a change. It compares the definitions, probes the conversion
// webhook if the probe is not nil, and checks each object; VersionsToRead returns the versions in
// which to read them. It fails only if the objects cannot be read or the context ends.
func Judge(ctx context.Context, change Change, probe Probe, objects Objects) (*Report, error) {
	report := &Report{}
	report.add(Compare(ctx, change)...)
	report.add(unreachable(ctx, change.New, probe)...)
	j := newJudge(change, report)
	batch := make([]*unstructured.Unstructured, 0, batchSize)
	for object, err := range objects {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the objects of %s: %w", change.Old.Name, err)
		}
		if batch = append(batch, object); len(batch) == batchSize {
			j.objects(ctx, batch)
			batch = batch[:0]
		}
	}
	j.objects(ctx, batch)
	return report, nil
}

// batchSize is how many objects are judged in parallel before their findings are reported in order.
const batchSize = 64

// judge compares the verdicts of the two definitions on objects.
type judge struct {
	change   Change
	versions []judged
	old      map[string]*Schema
	report   *Report
}

// judged is a version of the new definition in which objects are judged.
type judged struct {
	name   string
	schema *Schema
	// differing is the schema without what the old one has as well; see differing.go.
	differing *Schema
	// unchanged means that the old definition has the same version with the same schema.
	unchanged bool
	// storedOnly means that objects are read from etcd in the version, but nobody writes it: it can
	// drop fields, but refuses nothing.
	storedOnly bool
}

// newJudge compiles both definitions. A version of the new one that cannot be compiled is left out:
// Compare has a finding about it. A version of the old one that cannot be compiled excuses nothing.
func newJudge(change Change, report *Report) *judge {
	j := &judge{change: change, old: map[string]*Schema{}, report: report}
	for i := range change.Old.Spec.Versions {
		name := change.Old.Spec.Versions[i].Name
		if compiled, err := Compile(change.Old, name); err == nil {
			j.old[name] = compiled
		}
	}
	for _, name := range usedVersions(change) {
		if compiled, err := Compile(change.New, name); err == nil {
			storedOnly := !serves(change.New, name) && name != StorageVersion(change.New)
			j.versions = append(j.versions, judged{name, compiled, differing(change, name, compiled), unchanged(change, name), storedOnly})
		}
	}
	return j
}

func unchanged(change Change, version string) bool {
	o, n := versionOf(change.Old, version), versionOf(change.New, version)
	return o != nil && n != nil && apiequality.Semantic.DeepEqual(o.Schema, n.Schema) &&
		apiequality.Semantic.DeepEqual(o.Subresources, n.Subresources) &&
		change.Old.Spec.PreserveUnknownFields == change.New.Spec.PreserveUnknownFields
}

// problem identifies a problem of one object, whichever version shows it.
type problem struct {
	defect Defect
	field  string
}

// outcome is what is wrong with one object.
type outcome struct {
	findings          []Finding
	statusFields      []string
	refused, dropping bool
}

// objects judges objects in parallel and reports what it finds in their order.
func (j *judge) objects(ctx context.Context, batch []*unstructured.Unstructured) {
	outcomes := make([]outcome, len(batch))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(batch)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(batch)); i = next.Add(1) - 1 {
				outcomes[i] = j.object(ctx, batch[i])
			}
		})
	}
	workers.Wait()
	for i := range outcomes {
		j.count(&outcomes[i])
	}
}

// object judges one object. It finds each problem once, in the first version that has it.
func (j *judge) object(ctx context.Context, object *unstructured.Unstructured) outcome {
	var o outcome
	known := map[problem]bool{}
	for i := range j.versions {
		version := &j.versions[i]
		baseline, same := j.baseline(version, object)
		if same || !j.readsIn(version, object) {
			continue
		}
		verdict := j.check(ctx, version, baseline, object)
		found, status := causes(ctx, verdict, baseline, object)
		o.statusFields = append(o.statusFields, status...)
		for i := range found {
			f := &found[i]
			f.Version, f.Object = version.name, nameOf(object)
			f.Message = fmt.Sprintf("%s in version %s", f.Message, version.name)
			if key := (problem{f.Defect, f.Field}); !known[key] {
				known[key] = true
				o.findings = append(o.findings, *f)
			}
			o.refused = o.refused || f.Reason == RefusesObjects
			o.dropping = o.dropping || f.Reason == DropsFields
		}
	}
	return o
}

// check returns the verdict of a version on an object. If the baseline is the same version, the
// difference between both decides whether the whole schema needs to be checked.
func (j *judge) check(ctx context.Context, version *judged, baseline *Schema, object *unstructured.Unstructured) Verdict {
	schema := version.schema
	if version.differing != nil && baseline == j.old[version.name] {
		schema = version.differing
	}
	verdict := schema.Check(ctx, object)
	if len(verdict.Refusals) > 0 && schema != version.schema {
		verdict = version.schema.Check(ctx, object)
	}
	if version.storedOnly {
		verdict.Refusals = nil
	}
	return verdict
}

func (j *judge) count(o *outcome) {
	j.report.Objects++
	j.report.add(o.findings...)
	for _, path := range o.statusFields {
		j.report.addStatusField(path)
	}
	if o.refused {
		j.report.Refused++
	}
	if o.dropping {
		j.report.Dropping++
	}
}

// readsIn reports whether clients get an object in a version as it is here: in all versions without
// a webhook, and only in its own with a webhook, since nothing here can convert it.
func (j *judge) readsIn(version *judged, object *unstructured.Unstructured) bool {
	return !usesWebhook(j.change.New) || version.name == ownVersion(object)
}

// baseline returns the schema of the old definition whose verdict excuses the same verdict of the
// new one, and whether both are the same. A version in which objects were not stored before must
// have all fields of the version in which they were.
func (j *judge) baseline(version *judged, object *unstructured.Unstructured) (excuse *Schema, same bool) {
	own, storage := ownVersion(object), StorageVersion(j.change.New)
	if version.name == storage && version.name != own && storage != StorageVersion(j.change.Old) {
		return j.old[own], false
	}
	if old := j.old[version.name]; old != nil && (version.name == own || !usesWebhook(j.change.Old)) {
		return old, version.unchanged
	}
	return j.old[own], false
}

func ownVersion(object *unstructured.Unstructured) string { return object.GroupVersionKind().Version }

// causes returns the findings of a verdict that the old definition does not share, and the dropped
// fields of status.
func causes(ctx context.Context, v Verdict, old *Schema, object *unstructured.Unstructured) (found []Finding, status []string) {
	dropped, status := withoutStatus(v.Dropped)
	if len(v.Refusals) == 0 && len(dropped) == 0 {
		return nil, status
	}
	excused := map[problem]bool{}
	if old != nil {
		before := old.Check(ctx, object)
		for _, r := range before.Refusals {
			excused[problem{r.Defect, r.Field}] = true
		}
		for _, path := range before.Dropped {
			excused[problem{FieldDropped, path}] = true
		}
	}
	for _, r := range v.Refusals {
		if !excused[problem{r.Defect, r.Field}] {
			found = append(found, r.finding())
		}
	}
	for _, path := range lost(dropped, object, v.Object, old) {
		if !excused[problem{FieldDropped, path}] {
			found = append(found, Finding{
				Reason: DropsFields, Defect: FieldDropped, Severity: Block, Field: path,
				Message: fmt.Sprintf("the new CRD has no field %s and drops it", path),
			})
		}
	}
	return found, status
}

func (r Refusal) finding() Finding {
	at := r.Field
	if at == "" {
		at = "the object"
	}
	return Finding{
		Reason: RefusesObjects, Defect: r.Defect, Severity: Block, Field: r.Field,
		Message: fmt.Sprintf("the new CRD refuses %s (%s)", at, r.Detail),
	}
}

func nameOf(object *unstructured.Unstructured) string {
	if namespace := object.GetNamespace(); namespace != "" {
		return namespace + "/" + object.GetName()
	}
	return object.GetName()
}
