package apiserver

import (
	"slices"
	"testing"
)

func TestTheVersionsOfARunCanBeChosen(t *testing.T) {
	t.Setenv(versionsVariable, "")
	if got := Versions(t); !slices.Equal(got, []string{"v1.35.4", "v1.36.3"}) {
		t.Errorf("by default they are %v", got)
	}
	t.Setenv(versionsVariable, "v1.34.4, 1.37.1")
	var ran []string
	EachVersion(t, func(_ *testing.T, version string) { ran = append(ran, version) })
	if !slices.Equal(ran, []string{"v1.34.4", "v1.37.1"}) {
		t.Errorf("these ran: %v", ran)
	}
}
