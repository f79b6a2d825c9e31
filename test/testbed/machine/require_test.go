package machine

import (
	"strings"
	"testing"
)

func TestRequireNamesMissingToolsAndTheirPackages(t *testing.T) {
	err := Require(Tool{"true", "coreutils"}, Tool{"no-such-program", "no-such-package"}, Tool{"nor-this", "no-such-package"})
	if err == nil {
		t.Fatal("want an error")
	}
	if want := "not installed: no-such-program, nor-this; install with: apt-get install no-such-package"; !strings.Contains(err.Error(), want) {
		t.Errorf("got %q, want %q in it", err, want)
	}
	if strings.Contains(err.Error(), "coreutils") {
		t.Errorf("%q names an installed tool", err)
	}
}
