package configpatch

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

const chance Field = "apiServer.extraArgs.goaway-chance"

func one(value string) Values {
	if value == "" {
		return Values{}
	}
	return Values{chance: {value}}
}

func TestMerge(t *testing.T) {
	for situation, c := range map[string]struct {
		live, last, patch string // values of one field; empty: it is missing

		becomes, applied string
		kept             bool
	}{
		"the first patch":                              {"", "", "0.1", "0.1", "0.1", false},
		"the same patch again":                         {"0.1", "0.1", "0.1", "0.1", "0.1", false},
		"the next patch":                               {"0.1", "0.1", "0.2", "0.2", "0.2", false},
		"the next patch drops the field":               {"0.1", "0.1", "", "", "", false},
		"an owner's value before the first patch":      {"0.9", "", "0.1", "0.9", "", true},
		"an owner's value that agrees":                 {"0.1", "", "0.1", "0.1", "", false},
		"a hand edit":                                  {"0.9", "0.1", "0.2", "0.9", "0.1", true},
		"a hand edit, and the same patch again":        {"0.9", "0.1", "0.1", "0.9", "0.1", true},
		"a hand edit of a dropped field":               {"0.9", "0.1", "", "0.9", "", false},
		"an owner's value, and no patch":               {"0.9", "", "", "0.9", "", false},
		"a removed field that the next patch has":      {"", "0.1", "0.2", "0.2", "0.2", false},
		"a removed field that the next patch drops":    {"", "0.1", "", "", "", false},
		"an interrupted write of the next patch":       {"0.2", "0.1", "0.2", "0.2", "0.2", false},
		"an interrupted write of the first patch":      {"", "0.1", "0.1", "0.1", "0.1", false},
		"a hand edit that was set back to the patch's": {"0.1", "0.1", "0.2", "0.2", "0.2", false},
	} {
		t.Run(situation, func(t *testing.T) {
			r := Merge(one(c.live), one(c.last), one(c.patch))
			if got := one(c.live).with(r.Changes); !reflect.DeepEqual(got, one(c.becomes)) {
				t.Errorf("becomes %v, want %q", got, c.becomes)
			}
			if !reflect.DeepEqual(r.Applied, one(c.applied)) {
				t.Errorf("records %v, want %q", r.Applied, c.applied)
			}
			if _, kept := r.Kept[chance]; kept != c.kept {
				t.Errorf("kept %v, want %t", r.Kept, c.kept)
			}
		})
	}
}

// undone returns values without changes.
func undone(values Values, changes []Change) Values {
	out := maps.Clone(values)
	for _, c := range changes {
		if c.From == nil {
			delete(out, c.Field)
			continue
		}
		out[c.Field] = c.From
	}
	return out
}

var drawValues = rapid.Custom(func(t *rapid.T) Values {
	out := Values{}
	for _, f := range []Field{chance, "apiServer.extraArgs.v", "etcd.local.extraArgs.quota-backend-bytes", "scheduler.extraArgs.kube-api-qps"} {
		if value := rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, string(f)); value != "" {
			out[f] = []string{value}
		}
	}
	return out
})

func TestMergedConfigurationIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live, last, patch := drawValues.Draw(t, "live"), drawValues.Draw(t, "last"), drawValues.Draw(t, "patch")
		r := Merge(live, last, patch)
		merged := live.with(r.Changes)

		// All nodes of a control plane render the same, whichever goes first.
		again := Merge(merged, r.Applied, patch)
		if len(again.Changes) > 0 || !reflect.DeepEqual(again.Applied, r.Applied) || !reflect.DeepEqual(again.Kept, r.Kept) {
			t.Fatalf("merged again: %+v, before %+v", again, r)
		}
		// A rollback restores what was there.
		if got := undone(merged, r.Changes); !reflect.DeepEqual(got, live) {
			t.Fatalf("rolled back to %v, not %v", got, live)
		}
		for field, values := range live {
			changed := !slices.Equal(merged[field], values)
			if byHand := !slices.Equal(values, last[field]); byHand && changed {
				t.Fatalf("%s was %v by hand and became %v", field, values, merged[field])
			}
		}
		for field, values := range patch {
			if _, kept := r.Kept[field]; !kept && !slices.Equal(merged[field], values) {
				t.Fatalf("%s is %v without a reason, the patch has %v", field, merged[field], values)
			}
		}
		for field := range merged {
			_, own := patch[field]
			if _, was := last[field]; was && !own && slices.Equal(live[field], last[field]) {
				t.Fatalf("%s was dropped and is still there", field)
			}
		}
	})
}

// An interruption between any two writes, followed by a repetition or by a merge of another node,
// leads to the same result.
func TestInterruptedWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		live, last, patch := drawValues.Draw(t, "live"), drawValues.Draw(t, "last"), drawValues.Draw(t, "patch")
		r := Merge(live, last, patch)
		type state struct{ live, record Values }
		done := state{live.with(r.Changes), r.Applied}
		for _, s := range []state{
			{live, last}, {live, r.Intent(last)}, {done.live, r.Intent(last)}, done,
		} {
			rest := r.On(s.live)
			if got := s.live.with(rest.Changes); !reflect.DeepEqual(got, done.live) || !reflect.DeepEqual(rest.Applied, r.Applied) {
				t.Fatalf("repeated from %v: %v, %+v", s, got, rest)
			}
			other := Merge(s.live, s.record, patch)
			if got := s.live.with(other.Changes); !reflect.DeepEqual(got, done.live) {
				t.Fatalf("merged by another node from %v: %v, not %v", s, got, done.live)
			}
		}
	})
}

func TestEditDuringTheUpgradeStays(t *testing.T) {
	r := Merge(Values{chance: {"1"}}, Values{chance: {"1"}}, Values{chance: {"2"}})
	on := r.On(Values{chance: {"3"}})
	if len(on.Changes) > 0 || len(on.Applied) > 0 || !reflect.DeepEqual(on.Kept, Values{chance: {"2"}}) {
		t.Errorf("got %+v", on)
	}
	if len(r.Kept) > 0 || len(r.Applied) != 1 {
		t.Errorf("the merge itself was changed: %+v", r)
	}
}

func TestPatchesOfSeveralHops(t *testing.T) {
	results := Along(Values{}, nil, []Values{one("1"), one("1"), one("2"), {}})
	var got []string
	for _, r := range results {
		set, removed := r.Texts()
		got = append(got, fmt.Sprint(set, removed))
	}
	want := []string{"[" + string(chance) + "=1] []", "[] []", "[" + string(chance) + "=2] []", "[] [" + string(chance) + "]"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestOnlySignedValuesAreShown(t *testing.T) {
	live := Values{chance: {"1"}, "apiServer.extraArgs.v": {"hidden"}, "scheduler.extraArgs.v": {"hidden"}}
	got := live.Known(one("1"), Values{"apiServer.extraArgs.v": {"4"}})
	if want := (Values{chance: {"1"}, "apiServer.extraArgs.v": {""}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}
