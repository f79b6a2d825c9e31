package backup

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var testNow = time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC)

const testDay = 24 * time.Hour

// aged returns a complete backup of the test cluster.
func aged(n int, age time.Duration) Stored {
	at := testNow.Add(-age)
	return Stored{ID: ID{fmt.Sprintf("0a1b2c3d-0000-4000-8000-%012d", n), 1}, State: Complete, ClusterUID: testCluster, Time: at, Modified: at}
}

func (b Stored) in(state State) Stored { b.State = state; return b }
func (b Stored) ofAnother() Stored     { b.ClusterUID = otherUID; return b }
func (b Stored) again() Stored         { b.ID.Attempt++; return b }
func (b Stored) proven() Stored        { b.Proven = true; return b }
func (b Stored) relied() Stored        { b.Relied = true; return b }
func (b Stored) deleted() Stored       { b.Deleted = true; return b }

func TestRetention(t *testing.T) {
	for situation, tt := range map[string]struct {
		keep Keep
		all  []Stored
		want []int // numbers of the expired
	}{
		"no policy":                           {Keep{}, []Stored{aged(1, 900*testDay), aged(2, 800*testDay)}, nil},
		"the last two":                        {Keep{Last: 2}, []Stored{aged(1, 3*testDay), aged(2, 2*testDay), aged(3, testDay)}, []int{1}},
		"younger than a week":                 {Keep{Age: 7 * testDay}, []Stored{aged(1, 8*testDay), aged(2, 6*testDay), aged(3, testDay)}, []int{1}},
		"the last two or younger than a week": {Keep{Last: 2, Age: 7 * testDay}, []Stored{aged(1, 9*testDay), aged(2, 8*testDay), aged(3, 6*testDay), aged(4, 5*testDay), aged(5, 0)}, []int{1, 2}},
		"all too old":                         {Keep{Age: testDay}, []Stored{aged(1, 9*testDay), aged(2, 8*testDay)}, []int{1}},
		"only one":                            {Keep{Age: testDay}, []Stored{aged(1, 900*testDay)}, nil},
		"newest of the proven":                {Keep{Last: 1}, []Stored{aged(1, 4*testDay).proven(), aged(2, 3*testDay).proven(), aged(3, 2*testDay), aged(4, testDay)}, []int{1, 3}},
		"what something relies on":            {Keep{Last: 1}, []Stored{aged(1, 4*testDay).proven().relied(), aged(2, 3*testDay).proven(), aged(3, 2*testDay).proven()}, []int{2}},
		"backups of another cluster":          {Keep{Last: 1}, []Stored{aged(1, 4*testDay).ofAnother(), aged(2, 3*testDay).ofAnother(), aged(3, 2*testDay)}, nil},
		"newest is damaged":                   {Keep{Last: 1}, []Stored{aged(1, 4*testDay), aged(2, 3*testDay).in(Damaged)}, nil},
		"newest is unknown":                   {Keep{Last: 1}, []Stored{aged(1, 4*testDay), aged(2, 3*testDay).in(Unknown)}, nil},
		"active upload":                       {Keep{Last: 1}, []Stored{aged(1, time.Hour).in(Unfinished)}, nil},
		"upload before a complete attempt":    {Keep{Last: 1}, []Stored{aged(1, time.Hour).in(Unfinished), aged(1, 0).again()}, []int{1}},
		"upload after a complete attempt":     {Keep{Last: 1}, []Stored{aged(1, time.Hour), aged(1, 0).again().in(Unfinished)}, nil},
		"upload of another backup":            {Keep{Last: 1}, []Stored{aged(1, time.Hour).in(Unfinished), aged(2, 0).again()}, nil},
		"abandoned upload":                    {Keep{Last: 1}, []Stored{aged(1, 25*time.Hour).in(Unfinished)}, []int{1}},
		"abandoned upload without policy":     {Keep{}, []Stored{aged(1, 25*time.Hour).in(Unfinished)}, []int{1}},
		"damaged and superseded":              {Keep{Last: 1}, []Stored{aged(1, 3*testDay).in(Damaged), aged(2, testDay)}, []int{1}},
		"damaged without policy":              {Keep{}, []Stored{aged(1, 3*testDay).in(Damaged), aged(2, testDay)}, nil},
		"damaged, and the policy keeps two":   {Keep{Last: 2}, []Stored{aged(1, 3*testDay).in(Damaged), aged(2, testDay)}, nil},
		"damaged of another cluster":          {Keep{Last: 1}, []Stored{aged(1, 3*testDay).in(Damaged).ofAnother(), aged(2, testDay)}, nil},
		"damaged and nothing else":            {Keep{Last: 1}, []Stored{aged(1, 3*testDay).in(Damaged)}, nil},
		"marked, though the policy keeps it":  {Keep{Last: 5}, []Stored{aged(1, 2*testDay).deleted(), aged(2, testDay)}, []int{1}},
		"marked, without policy":              {Keep{}, []Stored{aged(1, 2*testDay).deleted(), aged(2, testDay)}, []int{1}},
		"marked takes no place":               {Keep{Last: 2}, []Stored{aged(1, 3*testDay), aged(2, 2*testDay).deleted(), aged(3, testDay)}, []int{2}},
		"marked supersedes no other":          {Keep{Last: 1}, []Stored{aged(1, 2*testDay), aged(2, testDay).deleted()}, nil},
		"marked, and nothing else":            {Keep{Last: 1}, []Stored{aged(1, 2*testDay).deleted()}, nil},
		"marked, and the only proven one":     {Keep{Last: 1}, []Stored{aged(1, 2*testDay).proven().deleted(), aged(2, testDay)}, nil},
		"marked, and its manifest is gone":    {Keep{Last: 5}, []Stored{aged(1, 0).in(Unfinished).deleted(), aged(2, testDay)}, []int{1}},
		"marked, and something relies on it":  {Keep{Last: 1}, []Stored{aged(1, 2*testDay).relied().deleted(), aged(2, testDay)}, nil},
		"marked, of another cluster":          {Keep{Last: 1}, []Stored{aged(1, 2*testDay).ofAnother().deleted(), aged(2, testDay)}, nil},
		"marked, and unknown":                 {Keep{Last: 1}, []Stored{aged(1, 2*testDay).in(Unknown).deleted(), aged(2, testDay)}, nil},
		"unknown is never deleted":            {Keep{Last: 1}, []Stored{aged(1, 900*testDay).in(Unknown), aged(2, testDay)}, nil},
	} {
		t.Run(situation, func(t *testing.T) {
			var want []ID
			for _, n := range tt.want {
				want = append(want, aged(n, 0).ID)
			}
			got := Expired(testNow, tt.keep, testCluster, tt.all)
			slices.SortFunc(got, func(a, b ID) int { return slices.Compare([]byte(a.UID), []byte(b.UID)) })
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestRetentionNeverDeletesTheLastGoodBackup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Stored
		for n := range rapid.IntRange(0, 12).Draw(t, "backups") {
			b := aged(n/2, time.Duration(rapid.IntRange(-48, 60*24).Draw(t, "hours"))*time.Hour)
			b.ID.Attempt = 1 + n%2
			b.Modified = b.Time.Add(time.Duration(rapid.IntRange(0, 48).Draw(t, "later")) * time.Hour)
			b.State = rapid.SampledFrom([]State{Complete, Complete, Unfinished, Damaged, Unknown}).Draw(t, "state")
			b.ClusterUID = rapid.SampledFrom([]string{testCluster, testCluster, otherUID, ""}).Draw(t, "cluster")
			b.Proven = b.State == Complete && rapid.Bool().Draw(t, "proven")
			b.Deleted = rapid.IntRange(0, 3).Draw(t, "deleted") == 0
			all = append(all, b)
		}
		keep := Keep{Last: rapid.IntRange(0, 5).Draw(t, "last"), Age: time.Duration(rapid.IntRange(0, 40).Draw(t, "age")) * testDay}
		expired := Expired(testNow, keep, testCluster, all)
		kept := slices.DeleteFunc(slices.Clone(all), func(b Stored) bool { return slices.Contains(expired, b.ID) })
		checkRetention(t, keep, all, kept)
	})
}

func checkRetention(t *rapid.T, keep Keep, all, kept []Stored) {
	before, after := complete(all, testCluster), complete(kept, testCluster)
	if len(before) > 0 && (len(after) == 0 || after[0].ID != before[0].ID) {
		t.Fatalf("the newest complete backup %v is deleted", before[0].ID)
	}
	if len(after) < min(keep.Last, len(before)) {
		t.Fatalf("%d complete backups are left, the policy keeps %d", len(after), keep.Last)
	}
	if slices.ContainsFunc(before, func(b Stored) bool { return b.Proven }) && !slices.ContainsFunc(after, func(b Stored) bool { return b.Proven }) {
		t.Fatal("no proven backup is left")
	}
	for _, b := range all {
		if slices.ContainsFunc(kept, func(k Stored) bool { return k.ID == b.ID }) {
			continue
		}
		switch age := testNow.Sub(b.Time); {
		case b.State == Unknown, b.State != Unfinished && b.ClusterUID == otherUID:
			t.Fatalf("%v is not ours to delete", b)
		case b.Deleted && b.State != Unfinished && (len(after) == 0 || after[0].Time.Before(b.Time)):
			t.Fatalf("the rest of %v is deleted without a newer complete backup", b)
		case b.Deleted:
		case b.State == Complete && (keep == Keep{} || age < keep.Age):
			t.Fatalf("%v is younger than the policy", b)
		case b.State == Unfinished && slices.ContainsFunc(before, func(k Stored) bool { return k.ID.UID == b.ID.UID && k.ID.Attempt > b.ID.Attempt }):
		case b.State != Complete && testNow.Sub(b.Modified) <= LeftoverAge:
			t.Fatalf("%v may be active", b)
		case b.State != Unfinished && b.Time.After(after[0].Time):
			t.Fatalf("%v is deleted without a newer complete backup", b)
		}
	}
}
