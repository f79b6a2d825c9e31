package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/cli/manifest"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

func long(n int) string { return strings.Repeat("a", n) }

func someLabels(count, key, value int) string {
	var all []string
	for i := range count {
		all = append(all, fmt.Sprintf("k%0*d: %q", key-1, i+1, long(value)))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func times(n int, format string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(format, i))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// The CLI rejects exactly the specs that the API server rejects: these are the specs that
// test/apiserver/api sends to real API servers, as far as a spec alone can be invalid.
func TestSpecsThatTheAPIRefuses(t *testing.T) {
	gpu := func(policy string) string { return "pools: [{name: gpu, nodeSelector: {pool: gpu}, " + policy + "}]" }
	for name, c := range map[string]struct{ spec, says string }{
		"a version":                         {"", ""},
		"another major version":             {"target: {kubernetes: v2.0.0}", "target.kubernetes"},
		"a leading zero":                    {"target: {kubernetes: v1.36.03}", "target.kubernetes"},
		"a ClusterRelease":                  {"target: {release: kubernetes-v1.36.3}", ""},
		"a ClusterRelease with a long name": {"target: {release: " + long(64) + "}", "target.release"},
		"both":                              {"target: {release: mine, kubernetes: v1.36.3}", "exclude each other"},
		"no hash":                           {"approvedPlan: \"yes\"", "approvedPlan"},
		"a hash":                            {"approvedPlan: sha256:" + long(64), ""},
		"a retry below zero":                {"retry: -1", "retry"},
		"two pools and the rest":            {"pools: [{name: gpu, nodeSelector: {a: b}}, {name: db, nodeSelector: {c: d}}, {name: default}]", ""},
		"two pools of one name":             {"pools: [{name: gpu, nodeSelector: {a: b}}, {name: gpu, nodeSelector: {c: d}}]", "a duplicate"},
		"default with a selector":           {"pools: [{name: default, nodeSelector: {a: b}}]", "every other pool requires one"},
		"default with an empty one":         {"pools: [{name: default, nodeSelector: {}}]", ""},
		"another without one":               {"pools: [{name: gpu}]", "every other pool requires one"},
		"another with an empty one":         {"pools: [{name: gpu, nodeSelector: {}}]", "every other pool requires one"},
		"a pool without a name":             {"pools: [{nodeSelector: {a: b}}]", "is empty"},
		"a pool in capitals":                {"pools: [{name: GPU, nodeSelector: {a: b}}]", "pools[0].name"},
		"a pool with a long name":           {"pools: [{name: " + long(64) + ", nodeSelector: {a: b}}]", "pools[0].name"},
		"32 pools":                          {"pools: " + times(32, "{name: p%d, nodeSelector: {a: b}}"), ""},
		"33 pools":                          {"pools: " + times(33, "{name: p%d, nodeSelector: {a: b}}"), "at most 32"},
		"no node at a time":                 {gpu("maxUnavailable: 0"), "maxUnavailable"},
		"fewer than none":                   {gpu("maxUnavailable: -1"), "maxUnavailable"},
		"10000 at a time":                   {gpu("maxUnavailable: 10000"), ""},
		"10001 at a time":                   {gpu("maxUnavailable: 10001"), "maxUnavailable"},
		"1%":                                {gpu("maxUnavailable: 1%"), ""},
		"100%":                              {gpu("maxUnavailable: 100%"), ""},
		"0%":                                {gpu("maxUnavailable: 0%"), "maxUnavailable"},
		"101%":                              {gpu("maxUnavailable: 101%"), "maxUnavailable"},
		"a number as text":                  {gpu("maxUnavailable: \"3\""), "maxUnavailable"},
		"a canary":                          {gpu("canary: {nodes: 2, soak: 1h30m}"), ""},
		"a canary of none":                  {gpu("canary: {nodes: 0}"), "canary.nodes"},
		"a canary of fewer":                 {gpu("canary: {nodes: -1}"), "canary.nodes"},
		"a canary of 10001":                 {gpu("canary: {nodes: 10001}"), "canary.nodes"},
		"a soak of a week":                  {gpu("canary: {soak: 168h}"), ""},
		"a soak of more":                    {gpu("canary: {soak: 168h1s}"), "canary.soak"},
		"no soak":                           {gpu("canary: {soak: 0s}"), "canary.soak"},
		"a soak below zero":                 {gpu("canary: {soak: -1s}"), "canary.soak"},
		"a soak that Go cannot read":        {gpu("canary: {soak: 2 days}"), "2 days"},
		"a soak finer than the API's":       {gpu("canary: {soak: 1us}"), "canary.soak"},
		"a drain of a second":               {gpu("drain: {timeout: 1s}"), ""},
		"a drain of no time":                {gpu("drain: {timeout: 0m}"), "drain.timeout"},
		"a drain of more than a week":       {gpu("drain: {timeout: 169h}"), "drain.timeout"},
		"another way out of a drain":        {gpu("drain: {onBlocked: Kill}"), "drain.onBlocked"},
		"the longest key":                   {"nodeSelector: " + someLabels(1, 317, 1), ""},
		"a longer key":                      {"nodeSelector: " + someLabels(1, 318, 1), "at most 317"},
		"a longer value":                    {"nodeSelector: " + someLabels(1, 3, 64), "not a label value"},
		"a value that is none":              {"nodeSelector: {a: b c}", "not a label value"},
		"17 labels":                         {"nodeSelector: " + someLabels(17, 3, 1), "at most 16 labels"},
		"a longer key of a pool":            {"pools: [{name: gpu, nodeSelector: " + someLabels(1, 318, 1) + "}]", "at most 317"},
		"2048 characters of labels":         {"nodeSelector: " + someLabels(16, 65, 63), ""},
		"more of them":                      {"nodeSelector: " + someLabels(16, 66, 63), "at most 2048"},
		"4096 of pools":                     {"pools: [{name: a, nodeSelector: " + someLabels(16, 65, 63) + "}, {name: b, nodeSelector: " + someLabels(16, 65, 63) + "}]", ""},
		"more of pools":                     {"pools: [{name: a, nodeSelector: " + someLabels(16, 65, 63) + "}, {name: b, nodeSelector: " + someLabels(16, 66, 63) + "}]", "at most 4096"},
		"a waiver":                          {"waivers: [{check: A, reason: known}]", ""},
		"a waiver without a reason":         {"waivers: [{check: A}]", "needs a check and a reason"},
		"a waiver for everything":           {"waivers: [{reason: in a hurry}]", "needs a check and a reason"},
		"a waiver of a long check":          {"waivers: [{check: " + long(64) + ", reason: known}]", "waivers[0].check"},
		"a waiver of a long object":         {"waivers: [{check: A, object: " + long(385) + ", reason: known}]", "waivers[0].object"},
		"a waiver with a long reason":       {"waivers: [{check: A, reason: " + long(513) + "}]", "waivers[0].reason"},
		"65 waivers":                        {"waivers: " + times(65, "{check: A%d, reason: known}"), "at most 64"},
		"20 waivers of 512 characters":      {"waivers: " + strings.ReplaceAll(times(20, "{check: pdb, reason: R, object: \"%d\"}"), "R", long(507)), ""},
		"21 of them":                        {"waivers: " + strings.ReplaceAll(times(21, "{check: pdb, reason: R, object: \"%d\"}"), "R", long(508)), "at most 10240"},
	} {
		t.Run(name, func(t *testing.T) {
			target := "target: {kubernetes: v1.36.3}, "
			if strings.HasPrefix(c.spec, "target") {
				target = ""
			}
			raw := "apiVersion: refit.dev/v1alpha1\nkind: ClusterUpgrade\nmetadata: {name: x}\nspec: {" + target + c.spec + "}\n"
			upgrade, err := manifest.Read("stdin", []byte(raw))
			if err == nil {
				err = request.Validate(&upgrade.Spec)
			}
			if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

// The API server accepts these, since no rule of a CRD can express them. Nothing would be upgraded.
func TestSpecsThatFitNoNode(t *testing.T) {
	for name, spec := range map[string]string{
		"a key that is none":           `nodeSelector: {"a b": c}`,
		"a key of a pool that is none": `pools: [{name: gpu, nodeSelector: {"a/b/c": d}}]`,
		"an empty key":                 `nodeSelector: {"": c}`,
	} {
		t.Run(name, func(t *testing.T) {
			raw := "apiVersion: refit.dev/v1alpha1\nkind: ClusterUpgrade\nmetadata: {name: x}\nspec: {target: {kubernetes: v1.36.3}, " + spec + "}\n"
			upgrade, err := manifest.Read("stdin", []byte(raw))
			if err == nil {
				err = request.Validate(&upgrade.Spec)
			}
			if err == nil || !strings.Contains(err.Error(), "is not a label key") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestNamesThatTheAPIRefuses(t *testing.T) {
	for name, says := range map[string]string{
		"autumn": "", "to-v1.36.3": "", "": "", `"X_Y"`: "metadata.name", "-a": "metadata.name", long(63): "", long(64): "metadata.name",
	} {
		_, err := manifest.Read("stdin", []byte("apiVersion: refit.dev/v1alpha1\nkind: ClusterUpgrade\nmetadata: {name: "+name+"}\nspec: {target: {kubernetes: v1.36.3}}\n"))
		if (err != nil) != (says != "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", name, err, says)
		}
	}
}

// A user reviews the plan of an operation as the API server returns it.
func TestAManifestAsTheAPIServerReturnsIt(t *testing.T) {
	const given = `
apiVersion: refit.dev/v1alpha1
kind: ClusterUpgrade
metadata: {name: night, uid: "1", resourceVersion: "7", generation: 3, creationTimestamp: "2026-01-02T03:04:05Z", finalizers: [refit.dev/upgrade]}
spec: {target: {release: kubernetes-v1.36.3}, scope: All, approval: Required, approvedPlan: "sha256:` + hash + `", retry: 1}
status: {phase: AwaitingApproval, observedGeneration: 3, plan: {hash: "sha256:` + hash + `"}}
`
	upgrade, err := manifest.Read("stdin", []byte(given))
	if err != nil {
		t.Fatal(err)
	}
	if err := request.Validate(&upgrade.Spec); err != nil {
		t.Error(err)
	}
}

const hash = "0123456789012345678901234567890123456789012345678901234567890123"
