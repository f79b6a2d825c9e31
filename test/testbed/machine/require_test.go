package machine

import (
	"strings"
	"testing"
)

func TestAMissingProgramIsNamedWithItsPackageAndTheOthersAreNot(t *testing.T) {
	err := Require(Program{"true", "coreutils"}, Program{"no-such-program", "no-such-package"}, Program{"nor-this", "no-such-package"})
	if err == nil {
		t.Fatal("nothing was missing")
	}
	if want := "not installed: no-such-program, nor-this; install with: apt-get install no-such-package"; !strings.Contains(err.Error(), want) {
		t.Errorf("got %q, want %q in it", err, want)
	}
	if strings.Contains(err.Error(), "coreutils") {
		t.Errorf("%q names what is installed", err)
	}
}
