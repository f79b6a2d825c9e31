package main

import (
	"errors"
	"strings"
	"testing"
)

func TestFlagsOfARestoreThatNothingMatches(t *testing.T) {
	for line, want := range map[string]string{
		"restore --waive EtcdServe":                   `"EtcdServe" is not one of EtcdServes, DigestUnknown, UpgradeInProgress`,
		"restore files --waive Everything":            "is not one of",
		"restore --digest sha256:abc":                 "is not sha256: with 64 hexadecimal digits",
		"restore --digest " + strings.Repeat("a", 64): "is not sha256: with 64 hexadecimal digits",
	} {
		_, err := run(t, strings.Fields(line)...)
		if _, usage := errors.AsType[usageError](err); !usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
