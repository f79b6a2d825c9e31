package main

import "testing"

func TestSteps(t *testing.T) {
	for name, args := range map[string][]string{
		"first-control-plane": {"--role", "first-control-plane"},
		"control-plane":       {"--role", "control-plane"},
		"worker":              {"--role", "worker"},
		"external-etcd":       {"--role", "control-plane", "--external-etcd"},
		"worker-containerd":   {"--role", "worker", "--containerd"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := run(t, append([]string{"steps", "--to", "v1.36.3"}, args...)...)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "steps-"+name, out)
		})
	}
}
