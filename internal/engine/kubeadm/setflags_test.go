package kubeadm

import "testing"

func TestSetFlagsKeepsTheOthers(t *testing.T) {
	before, err := Parse(onDisk(t)[Etcd])
	if err != nil {
		t.Fatal(err)
	}
	text, err := SetFlags(onDisk(t)[Etcd], map[string]string{"initial-cluster": "a=https://1:2380", "initial-cluster-state": "existing"})
	if err != nil {
		t.Fatal(err)
	}
	after, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range before.Flags {
		if name == "initial-cluster" || name == "initial-cluster-state" {
			continue
		}
		if len(after.Flags[name]) != len(values) || after.Flags[name][0] != values[0] {
			t.Errorf("--%s is %v, want %v", name, after.Flags[name], values)
		}
	}
	for name, want := range map[string]string{"initial-cluster": "a=https://1:2380", "initial-cluster-state": "existing"} {
		if got := after.Flags[name]; len(got) != 1 || got[0] != want {
			t.Errorf("--%s is %v, want %s", name, got, want)
		}
	}
	if after.Image != before.Image || len(after.Mounts) != len(before.Mounts) {
		t.Errorf("image %s, %d mounts", after.Image, len(after.Mounts))
	}
}
