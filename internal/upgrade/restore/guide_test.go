package restore

import (
	"strings"
	"testing"
)

func TestGuideWhileTheAPIServes(t *testing.T) {
	b := lost(3).Backup
	b.Digest = "sha256:d"
	run := NewRun(now).String()
	for name, tt := range map[string]struct {
		ready, unready []string
		situation      Situation
		want           []string
		lost           bool
	}{
		"one of three is lost": {[]string{"cp-1", "cp-3"}, []string{"cp-2"}, Replace, []string{
			"cp-2: refit-agent restore --yes",
		}, false},
		"the data of three is rolled back": {[]string{"cp-2", "cp-1", "cp-3"}, nil, All, []string{
			"cp-1: refit-agent restore --backup=u/1 --digest=sha256:d --run=" + run + " --identity=k --waive=EtcdServes --yes",
			"cp-2: refit-agent restore --backup=u/1 --digest=sha256:d --run=" + run + " --after=cp-1 --identity=k --waive=EtcdServes --yes",
			"cp-3: refit-agent restore --backup=u/1 --digest=sha256:d --run=" + run + " --after=cp-1 --after=cp-2 --identity=k --waive=EtcdServes --yes",
		}, true},
		"the data of the only member is rolled back": {[]string{"cp-1"}, nil, Single, []string{
			"cp-1: refit-agent restore --backup=u/1 --digest=sha256:d --run=" + run + " --identity=k --waive=EtcdServes --yes",
		}, true},
		"the only member is not ready yet": {nil, []string{"cp-1"}, Single, []string{
			"cp-1: refit-agent restore --backup=u/1 --digest=sha256:d --run=" + run + " --identity=k --waive=EtcdServes --yes",
		}, true},
		"a majority is not ready yet": {[]string{"cp-1"}, []string{"cp-3", "cp-2"}, All, []string{
			"cp-1: refit-agent restore --backup=u/1 --digest=sha256:d --run=" + run + " --identity=k --waive=EtcdServes --yes",
			"cp-2: refit-agent restore --backup=u/1 --digest=sha256:d --run=" + run + " --after=cp-1 --identity=k --waive=EtcdServes --yes",
			"cp-3: refit-agent restore --backup=u/1 --digest=sha256:d --run=" + run + " --after=cp-1 --after=cp-2 --identity=k --waive=EtcdServes --yes",
		}, true},
	} {
		g := NewGuide(now, b, tt.ready, tt.unready, []string{"--identity=k"})
		var got []string
		for _, c := range g.Commands {
			got = append(got, c.Member+": "+strings.Join(c.Args, " "))
		}
		if g.Situation != tt.situation || strings.Join(got, "\n") != strings.Join(tt.want, "\n") || (len(g.Lost) > 0) != tt.lost {
			t.Errorf("%s: %s, lost %q\n%s", name, g.Situation, g.Lost, strings.Join(got, "\n"))
		}
	}
}
