package server

import (
	"maps"
	"strings"
	"testing"
)

func TestARouteWithoutAPermissionDoesNotStart(t *testing.T) {
	if err := permissions.complete(); err != nil {
		t.Fatal(err)
	}
	fewer := maps.Clone(permissions)
	delete(fewer, "GetState")
	if err := fewer.complete(); err == nil || !strings.Contains(err.Error(), "GetState has no permission") {
		t.Errorf("got %v", err)
	}
	more := maps.Clone(permissions)
	more["GetNothing"] = permission{}
	if err := more.complete(); err == nil {
		t.Error("a permission without a route is accepted")
	}
}

func TestOnlyRoutesThatNeedNoCallerArePublic(t *testing.T) {
	public := map[string]bool{"GetHealthz": true, "GetReadyz": true, "GetOpenapi": true, "GetSignIn": true, "CreateSession": true, "StartOIDC": true, "FinishOIDC": true}
	for id, p := range permissions {
		if p.public != public[id] {
			t.Errorf("%s: public is %v", id, p.public)
		}
		if !p.public && len(p.needs) == 0 && id != "GetMe" && id != "DeleteSession" {
			t.Errorf("%s needs no permission", id)
		}
	}
}
