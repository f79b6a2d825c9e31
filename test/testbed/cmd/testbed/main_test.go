package main

import (
	"path/filepath"
	"testing"
)

func TestExitCodes(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	cases := []struct {
		situation string
		args      []string
		want      int
	}{
		{"help", []string{"--help"}, exitDone},
		{"help of build", []string{"build", "--help"}, exitDone},
		{"unknown subcommand", []string{"bild"}, exitUsage},
		{"unknown flag", []string{"build", "--kubernets", "v1.35.4"}, exitUsage},
		{"extra argument", []string{"build", "v1.35.4"}, exitUsage},
		{"no version", []string{"--cache", cache, "build"}, exitUsage},
		{"unsupported version", []string{"--cache", cache, "build", "--kubernetes", "v1.2.3"}, exitUsage},
		{"unknown installation method", []string{"--cache", cache, "build", "--kubernetes", "v1.35.4", "--node-install", "snap"}, exitUsage},
	}
	for _, c := range cases {
		if got := run(t.Context(), c.args); got != c.want {
			t.Errorf("%s: exit code %d, want %d", c.situation, got, c.want)
		}
	}
}
