package observe

import (
	"slices"
	"testing"
)

func TestPluginsIn(t *testing.T) {
	for name, test := range map[string]struct {
		corefile string
		want     []string
	}{
		"of kubeadm": {
			".:53 {\n    errors\n    health {\n       lameduck 5s\n    }\n    kubernetes cluster.local in-addr.arpa {\n       pods insecure\n    }\n    cache 30\n}\n",
			[]string{"cache", "errors", "health", "kubernetes"},
		},
		"several blocks, each plugin once": {"a:53 {\n cache\n}\nb:53 {\n cache\n forward . 1.1.1.1\n}\n", []string{"cache", "forward"}},
		"comments":                         {".:53 { # all {\n # errors {\n cache # }\n}\n", []string{"cache"}},
		"a snippet":                        {"(common) {\n errors\n}\n.:53 {\n import common\n}\n", []string{"errors", "import"}},
		"a brace in a separate line":       {".:53\n{\n errors\n}\n", []string{"errors"}},
		"a brace that is an argument":      {".:53 {\n log . {combined}\n errors\n}\n", []string{"errors", "log"}},
		"nothing":                          {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := pluginsIn(test.corefile); !slices.Equal(got, test.want) {
				t.Errorf("it uses %q, want %q", got, test.want)
			}
		})
	}
}
