package main

import (
	"log/slog"
	"strings"
	"testing"
)

func TestProgressOfACommandIsNoJSON(t *testing.T) {
	var out strings.Builder
	log := slog.New(progressHandler{&out})
	log.Debug("unseen")
	log.Info("stopping a container that exceeds its grace period", "container", "etcd")
	if got := out.String(); got != "stopping a container that exceeds its grace period, container etcd\n" {
		t.Errorf("%q", got)
	}
}
