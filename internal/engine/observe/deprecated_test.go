package observe

import (
	"reflect"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func TestScanDeprecated(t *testing.T) {
	const budgets = `apiserver_requested_deprecated_apis{group="policy",removed_release="1.25",resource="poddisruptionbudgets",subresource="",version="v1beta1"} 1`
	want := cluster.DeprecatedRequest{Group: "policy", Version: "v1beta1", Resource: "poddisruptionbudgets", RemovedRelease: "1.25"}
	long := `apiserver_request_total{path="` + strings.Repeat("x", 3*maxLine) + `"} 7`
	for name, test := range map[string]struct {
		metrics string
		want    []cluster.DeprecatedRequest
	}{
		"none":                          {"# HELP up\nup 1\n", nil},
		"one":                           {"# TYPE apiserver_requested_deprecated_apis gauge\n" + budgets + "\n", []cluster.DeprecatedRequest{want}},
		"at the end, without a newline": {"up 1\n" + budgets, []cluster.DeprecatedRequest{want}},
		"with a timestamp":              {budgets + " 1700000000\n", []cluster.DeprecatedRequest{want}},
		"not requested":                 {strings.TrimSuffix(budgets, "1") + "0\n", nil},
		"a metric with the same prefix": {"apiserver_requested_deprecated_apis_total{group=\"a\"} 1\n", nil},
		"a very long line":              {long + "\n" + budgets + "\n", []cluster.DeprecatedRequest{want}},
		"an escaped quote": {
			`apiserver_requested_deprecated_apis{group="a\"b",resource="c",version="v1"} 1` + "\n", []cluster.DeprecatedRequest{{Group: `a"b`, Version: "v1", Resource: "c"}},
		},
		"an unknown label": {
			`apiserver_requested_deprecated_apis{group="",new="x,}",resource="c",version="v1"} 1` + "\n", []cluster.DeprecatedRequest{{Version: "v1", Resource: "c"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := scanDeprecated(strings.NewReader(test.metrics))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("it found %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestScanDeprecatedRefusesInvalidMetrics(t *testing.T) {
	for _, line := range []string{
		`apiserver_requested_deprecated_apis{group="a`, `apiserver_requested_deprecated_apis{group`, `apiserver_requested_deprecated_apis{} many`,
	} {
		if found, err := scanDeprecated(strings.NewReader(line)); err == nil {
			t.Errorf("%q was parsed as %v", line, found)
		}
	}
}
