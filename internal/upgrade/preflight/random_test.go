package preflight

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/skew"
)

var (
	texts   = []string{"", "v1.35.4", "v0.0.0", "1", "/", " ", "*", "Yes", "No", "pods", "a/b/c", "worker-1", "3.5.1", "api/", "="}
	numbers = []int64{-1, 0, 1, 2, 1000, 1 << 30}
)

// scramble sets random fields to random values: a Snapshot may come from a file, another version of
// Refit, or a cluster in any state.
func scramble(dice *rand.Rand, v reflect.Value, chance int) {
	if !v.CanSet() || v.Type() == reflect.TypeFor[intstr.IntOrString]() {
		return
	}
	hit := dice.IntN(100) < chance
	switch v.Kind() {
	case reflect.Pointer:
		switch {
		case v.IsNil() && hit:
			v.Set(reflect.New(v.Type().Elem()))
		case hit:
			v.SetZero()
			return
		}
		if !v.IsNil() {
			scramble(dice, v.Elem(), chance)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			scramble(dice, field, chance)
		}
	case reflect.Slice:
		switch {
		case hit && v.Len() == 0:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case hit:
			v.SetZero()
		}
		for i := range v.Len() {
			scramble(dice, v.Index(i), chance)
		}
	case reflect.Map:
		if hit {
			v.SetZero()
		}
	case reflect.String:
		if hit {
			v.SetString(texts[dice.IntN(len(texts))])
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		if hit {
			v.SetInt(numbers[dice.IntN(len(numbers))])
		}
	case reflect.Bool:
		if hit {
			v.SetBool(!v.Bool())
		}
	default:
	}
}

func TestRunOnRandomClusters(t *testing.T) {
	all := situations()
	rapid.Check(t, func(r *rapid.T) {
		c := all[rapid.IntRange(0, len(all)-1).Draw(r, "situation")]
		in := c.input(t)
		chance := rapid.SampledFrom([]int{1, 3, 10, 40}).Draw(r, "chance")
		dice := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
		scramble(dice, reflect.ValueOf(in.Snapshot).Elem(), chance)
		scramble(dice, reflect.ValueOf(&in.Spec).Elem(), chance)
		if rapid.Bool().Draw(r, "another path") {
			minor := rapid.IntRange(30, 39)
			in.Path = skew.Path{
				From: skew.Version{Major: 1, Minor: minor.Draw(r, "from")}, To: skew.Version{Major: 1, Minor: minor.Draw(r, "to")},
				Hops:          []skew.Version{{Major: 1, Minor: minor.Draw(r, "first")}, {Major: 1, Minor: minor.Draw(r, "second")}},
				WorkersFollow: []bool{rapid.Bool().Draw(r, "follow")},
			}
		}
		before := marshal(in.Snapshot)
		report := Run(in)
		if marshal(in.Snapshot) != before {
			r.Fatal("a check modified the Snapshot")
		}
		if again := Run(in); marshal(again) != marshal(report) {
			r.Fatalf("two runs on the same cluster differ:\n%s\n%s", marshal(report), marshal(again))
		}
		blocks := 0
		for i := range report.Findings {
			f := &report.Findings[i]
			if f.Message == "" || f.Remedy == "" || f.Check == "" || rank(f.Severity) < 0 {
				r.Fatalf("incomplete finding: %+v", f)
			}
			if f.Blocks() {
				blocks++
			}
		}
		if blocks != report.Summary.Blocks {
			r.Fatalf("%d findings block, but the summary counts %d", blocks, report.Summary.Blocks)
		}
	})
}

func marshal(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// An unread part must never make a cluster look healthier.
func TestUnreadPartsNeverUnblock(t *testing.T) {
	parts := []cluster.Part{
		cluster.PartNodes, cluster.PartPods, cluster.PartBudgets, cluster.PartWebhooks, cluster.PartBackends, cluster.PartAPIServices, cluster.PartCRDs,
		cluster.PartVolumes, cluster.PartServices, cluster.PartHelm, cluster.PartAPIServers, cluster.PartDeprecated, cluster.PartKubeadm,
		cluster.PartEndpoint, cluster.PartReleases, cluster.PartReports, cluster.PartUpgrades, cluster.PartActors,
	}
	for _, part := range parts {
		for _, kind := range []cluster.GapKind{cluster.GapForbidden, cluster.GapUnreachable, cluster.GapFailed} {
			c := situation{change: clustertest.Unread(part, kind)}
			report := Run(c.input(t))
			if report.Summary.Unknown == 0 {
				t.Errorf("%s %s: the gap is not reported", part, kind)
			}
			if kind == cluster.GapUnreachable && report.Blocked() {
				t.Errorf("%s: an unreachable part blocks:\n%s", part, c.narrative(report.Findings))
			}
		}
	}
}
