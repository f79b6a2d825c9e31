package kubeadm

import (
	"slices"
	"testing"
)

func TestKubeletArgumentsAreExpandedAsBySystemd(t *testing.T) {
	for _, c := range []struct {
		name string
		unit KubeletUnit
		want []string
	}{
		{"as kubeadm's drop-in has it", KubeletUnit{
			ExecStart:        []string{"/usr/bin/kubelet", "$KUBELET_CONFIG_ARGS", "$KUBELET_KUBEADM_ARGS", "$KUBELET_EXTRA_ARGS"},
			Environment:      []string{"KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"},
			EnvironmentFiles: [][]byte{[]byte("KUBELET_KUBEADM_ARGS=\"--node-ip=10.0.0.1 --v=2\"\n")},
		}, []string{"--config=/var/lib/kubelet/config.yaml", "--node-ip=10.0.0.1", "--v=2"}},
		{"a file wins over Environment=, a later one over an earlier", KubeletUnit{
			ExecStart:        []string{"kubelet", "$A"},
			Environment:      []string{"A=--one"},
			EnvironmentFiles: [][]byte{[]byte("A=--two"), []byte("# no\n; no\nA=--three")},
		}, []string{"--three"}},
		{"a word in quotes stays one", KubeletUnit{
			ExecStart: []string{"kubelet", "$A"}, EnvironmentFiles: [][]byte{[]byte(`A='--node-labels="a=b c" --x'`)},
		}, []string{"--node-labels=a=b c", "--x"}},
		{"braces give one word", KubeletUnit{ExecStart: []string{"kubelet", "--x=${A}", "${B}"}, Environment: []string{"A=1 2"}}, []string{"--x=1 2", ""}},
		{"two dollars are one", KubeletUnit{ExecStart: []string{"kubelet", "--x=$$A", "a$A"}, Environment: []string{"A=1"}}, []string{"--x=$A", "a$A"}},
		{"not set, not there", KubeletUnit{ExecStart: []string{"kubelet", "$NONE", "--x"}}, []string{"--x"}},
		{"a value over two lines", KubeletUnit{
			ExecStart: []string{"kubelet", "$A", "$B"}, EnvironmentFiles: [][]byte{[]byte("A=--one \\\n--two  \nB=\"--three\n--four\"\n")},
		}, []string{"--one", "--two", "--three", "--four"}},
	} {
		got, err := KubeletArgs(c.unit)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, %v, want %q", c.name, got, err, c.want)
		}
	}
	for _, unit := range []KubeletUnit{{}, {ExecStart: []string{"kubelet", "$A"}, Environment: []string{`A=--x="1`}}} {
		if got, err := KubeletArgs(unit); err == nil {
			t.Errorf("%v: got %q", unit, got)
		}
	}
}
