package cluster

import (
	"strings"
	"testing"
)

func TestNamesOfBackups(t *testing.T) {
	for name, want := range map[string]string{
		"to-v1-36-3":                     "to-v1-36-3-0c9f8a7b-v1.36.3-1",
		strings.Repeat("a", 63):          strings.Repeat("a", 44) + "-0c9f8a7b-v1.36.3-1",
		strings.Repeat("a", 43) + ".bcd": strings.Repeat("a", 43) + "-0c9f8a7b-v1.36.3-1",
	} {
		if got := BackupName(&Operation{Name: name, UID: "0c9f8a7b-1111"}, "v1.36.3", 1); got != want || len(got) > 63 {
			t.Errorf("the backup of %s is named %s, want %s", name, got, want)
		}
	}
}
