package configpatch

import (
	"cmp"
	"maps"
	"slices"
)

// Result is the merge of a patch into a ClusterConfiguration.
type Result struct {
	// Changes are sorted by field.
	Changes []Change
	// Kept are the fields of the patch that were edited by hand, with the values of the patch. The
	// ClusterConfiguration keeps its own.
	Kept Values
	// Applied is the last patch of the next merge.
	Applied Values
}

// Change is the change of one field.
type Change struct {
	Field    Field
	From, To []string // empty: the field is missing
}

// Merge merges a patch into the live values. last is what the last patch set; Refit sets no field
// that has another value, so such a field was missing before.
//
//	live               in the patch      only in the last patch
//	missing            set               nothing
//	as in the patch    nothing
//	as in last         set               removed
//	otherwise          kept: by hand     left to its owner
func Merge(live, last, patch Values) Result {
	r := Result{Kept: Values{}, Applied: Values{}}
	for _, field := range patch.Fields() {
		now, before, next := live[field], last[field], patch[field]
		switch {
		case slices.Equal(now, next):
			// Without a last patch the value is the owner's, who happens to agree.
			if before != nil {
				r.Applied[field] = next
			}
		case now == nil, slices.Equal(now, before):
			r.Changes = append(r.Changes, Change{field, now, next})
			r.Applied[field] = next
		default:
			r.Kept[field] = next
			if before != nil { // so that the field is the patch's again when it is set back
				r.Applied[field] = before
			}
		}
	}
	for _, field := range last.Fields() {
		if _, still := patch[field]; !still && live[field] != nil && slices.Equal(live[field], last[field]) {
			r.Changes = append(r.Changes, Change{field, live[field], nil})
		}
	}
	slices.SortFunc(r.Changes, func(a, b Change) int { return cmp.Compare(a.Field, b.Field) })
	return r
}

// Along merges the patches of several hops, one after the other.
func Along(live, last Values, patches []Values) []Result {
	var out []Result
	for _, patch := range patches {
		r := Merge(live, last, patch)
		live, last = live.with(r.Changes), r.Applied
		out = append(out, r)
	}
	return out
}

// with returns values with changes.
func (v Values) with(changes []Change) Values {
	out := Values{}
	maps.Copy(out, v)
	for _, change := range changes {
		if change.To == nil {
			delete(out, change.Field)
			continue
		}
		out[change.Field] = change.To
	}
	return out
}

// Intent is what has to be recorded before the changes are written, so that an interruption leaves
// no field that looks like the owner's: fields that are new, with those of the last patch.
func (r *Result) Intent(last Values) Values {
	intent := maps.Clone(r.Applied)
	maps.Copy(intent, last)
	return intent
}

// On returns what is left to do on values that may have changed since the merge. A field that is
// neither what it was nor what it becomes was edited meanwhile: it stays, and is its owner's.
func (r *Result) On(live Values) Result {
	out := Result{Kept: maps.Clone(r.Kept), Applied: maps.Clone(r.Applied)}
	for _, change := range r.Changes {
		now := live[change.Field]
		switch {
		case slices.Equal(now, change.To):
		case slices.Equal(now, change.From):
			out.Changes = append(out.Changes, change)
		case change.To != nil:
			out.Kept[change.Field] = change.To
			delete(out.Applied, change.Field)
		}
	}
	return out
}

// Texts returns the changes as they are shown: what is set, and what is removed.
func (r *Result) Texts() (set, removed []string) {
	for _, change := range r.Changes {
		if change.To == nil {
			removed = append(removed, string(change.Field))
			continue
		}
		set = append(set, change.Field.text(change.To))
	}
	return set, removed
}
