package installation

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/engine/install"
)

func TestTolerations(t *testing.T) {
	for text, want := range map[string]corev1.Toleration{
		"dedicated=infra:NoExecute": {Key: "dedicated", Operator: "Equal", Value: "infra", Effect: "NoExecute"},
		"dedicated=infra":           {Key: "dedicated", Operator: "Equal", Value: "infra"},
		"example.com/gpu:NoExecute": {Key: "example.com/gpu", Operator: "Exists", Effect: "NoExecute"},
		"dedicated":                 {Key: "dedicated", Operator: "Exists"},
		"dedicated=:NoSchedule":     {Key: "dedicated", Operator: "Equal", Effect: "NoSchedule"},
	} {
		if got, ok := parseToleration(text); !ok || got != want {
			t.Errorf("%s: %+v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", ":NoExecute", "=infra", "a b", "dedicated:", "dedicated:Never", "dedicated:noexecute", "dedicated=a b", "a:b:NoExecute"} {
		if got, ok := parseToleration(text); ok {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

func TestPodsKeepWhatIsNotSet(t *testing.T) {
	existing := install.Existing{PullSecrets: []string{"old"}, Tolerations: []corev1.Toleration{{Key: "old", Operator: "Exists"}}}
	for situation, c := range map[string]struct {
		choice  Choice
		secrets []string
		keys    []string // of the tolerations
	}{
		"nothing": {Choice{}, []string{"old"}, []string{"old"}},
		"secrets": {Choice{PullSecrets: []string{"a", "b"}}, []string{"a", "b"}, []string{"old"}},
		"others":  {Choice{Tolerations: []string{"a", "b:NoExecute"}}, []string{"old"}, []string{"a", "b"}},
		"none":    {Choice{PullSecrets: []string{None}, Tolerations: []string{None}}, nil, nil},
	} {
		c.choice.Version = "v0.1.0"
		if err := c.choice.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		o, err := c.choice.options(existing)
		var keys []string
		for _, toleration := range o.Tolerations {
			keys = append(keys, toleration.Key)
		}
		if err != nil || !slices.Equal(o.PullSecrets, c.secrets) || o.NoPullSecrets != (c.secrets == nil) || !slices.Equal(keys, c.keys) {
			t.Errorf("%s: %v, %v, %v", situation, o.PullSecrets, keys, err)
		}
	}
}

func TestTracesKeepTheirCollectorUnlessItIsSet(t *testing.T) {
	const old, other = "http://old.example:4318", "https://other.example"
	for situation, c := range map[string]struct{ choice, existing, want string }{
		"nothing":            {"", "", ""},
		"the current one":    {"", old, old},
		"another one":        {other, old, other},
		"none":               {None, old, ""},
		"none, without one":  {None, "", ""},
		"for the first time": {other, "", other},
	} {
		choice := Choice{Traces: c.choice, Version: "v0.1.0"}
		if err := choice.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		if o, err := choice.options(install.Existing{Traces: c.existing}); err != nil || o.Traces != c.want {
			t.Errorf("%s: %q, %v", situation, o.Traces, err)
		}
	}
}

func TestWrongOptionsOfPods(t *testing.T) {
	for want, choice := range map[string]Choice{
		"--image-pull-secret: \"a/b\"":     {PullSecrets: []string{"a/b"}},
		"--image-pull-secret: \"\"":        {PullSecrets: []string{""}},
		"--toleration: \"x:Never\"":        {Tolerations: []string{"x:Never"}},
		"--traces-endpoint: \"grpc:4317\"": {Traces: "grpc:4317"},
		"--toleration: \"none:Nothing\"":   {Tolerations: []string{"none:Nothing"}},
	} {
		err := choice.Read(t.Context())
		if _, usage := errors.AsType[exit.UsageError](err); !usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
