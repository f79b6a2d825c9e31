package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// `make docs` writes the page again.
func TestThePageIsUpToDate(t *testing.T) {
	want, err := generate("../..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil || string(got) != want {
		t.Errorf("docs/troubleshooting.md is out of date: run `make docs` (%v)", err)
	}
}

func TestEveryReasonForWaitingIsKnown(t *testing.T) {
	s, err := readSource("../..", "api", "internal")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range s.waits() {
		if w.reason == "…" || w.meaning == "" {
			t.Errorf("the reason %q has the meaning %q", w.reason, w.meaning)
		}
	}
}

// An operator copies commands from the page: each remedy is a sentence with its commands marked.
func TestEveryEntryHasARemedyToCopy(t *testing.T) {
	s, err := readSource("../..", "api", "internal", "cmd/refit-agent")
	if err != nil {
		t.Fatal(err)
	}
	remedies := map[string][]string{}
	for _, w := range s.waits() {
		remedies[w.reason] = append([]string{}, w.remedies...)
	}
	for _, c := range s.checks() {
		remedies[c.id] = append([]string{}, c.remedies...)
	}
	for _, r := range s.refusals() {
		if isReason(r.reason) {
			remedies[r.reason] = append(remedies[r.reason], refusalRemedies[r.reason])
		}
	}
	for _, f := range s.failures() {
		remedies[f.reason] = append(remedies[f.reason], f.remedy)
	}
	command := regexp.MustCompile(`\b(refit|refit-agent|kubectl|kubeadm|journalctl|systemctl|dpkg|crictl|etcdctl|apt-get) (-|[a-z]+ ?-|retry|abort|approve|resume|status|get|delete|undo|forget)`)
	quoted := regexp.MustCompile("`[^`]*`")
	for reason, list := range remedies {
		if len(list) == 0 {
			t.Errorf("%s has no remedy", reason)
		}
		for _, remedy := range list {
			switch {
			case remedy == "" || strings.ToUpper(remedy[:1]) != remedy[:1]:
				t.Errorf("%s: the remedy is not a sentence: %q", reason, remedy)
			case command.MatchString(quoted.ReplaceAllString(remedy, "")):
				t.Errorf("%s: a command of the remedy is not marked: %q", reason, remedy)
			case strings.Contains(remedy, "by hand"):
				t.Errorf("%s: write manually: %q", reason, remedy)
			}
		}
	}
}

func TestFailuresAreFoundInEachShapeOfCode(t *testing.T) {
	for name, test := range map[string]struct {
		code string
		want failure
	}{
		"a call": {
			"return node.Transient(\"A\" + \"Locked\", err, \"wait for \"+held.By, \"%s holds %d locks\", held.By, 2)",
			failure{"Transient", "ALocked", "BY holds 2 locks", "wait for BY"},
		},
		"constants": {
			"return node.HostBroken(halfInstalled, nil, check+retry, \"it is %q\", envelopeFile())",
			failure{"HostBroken", "HalfInstalled", "it is ENVELOPE-FILE", "check it, then retry"},
		},
		"a variable": {
			"remedy := \"read the log\"; return node.ManualIntervention(\"Failed\", err, remedy, \"it failed\")",
			failure{"ManualInterventionRequired", "Failed", "it failed", "read the log"},
		},
		"a function with the reason as a parameter": {
			"return wrong(\"WrongFile\", \"%s is no file\", path)",
			failure{"ManualInterventionRequired", "WrongFile", "PATH is no file", "use the right file"},
		},
		"a method with the message as a parameter": {
			"return d.failed(err, \"InstallFailed\", \"cannot install \"+name)",
			failure{"ManualInterventionRequired", "InstallFailed", "cannot install NAME", "read the log"},
		},
		"a function whose remedy its callers complete": {
			"return invalid(path, \"%s is not valid\", path)",
			failure{"ManualInterventionRequired", "Invalid", "PATH is not valid", "Fix PATH, then restart"},
		},
		"a remedy of a function": {
			"return node.Transient(\"Lost\", nil, orWait(\"Look for it\"), \"it is lost\")",
			failure{"Transient", "Lost", "it is lost", "Look for it, or wait"},
		},
		"a reason that is replaced": {
			"f.Reason, f.Remedy = \"DiskFull\", \"free disk space\"",
			failure{"ManualInterventionRequired", "DiskFull", "", "free disk space"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := parse(t, test.code).failures()
			if len(found) != 1 || found[0] != test.want {
				t.Errorf("found %q, want %q", found, test.want)
			}
		})
	}
}

func TestRefusalsAreFound(t *testing.T) {
	found := parse(t, "if x { return refuse(RefusedEpoch, \"epoch %d is stale\", order.Epoch) }; return &Refusal{Reason: RefusedEpoch, Message: \"stale\"}").refusals()
	if len(found) != 2 || found[0] != (refusal{"StaleEpoch", "epoch EPOCH is stale"}) || found[1] != (refusal{"StaleEpoch", "stale"}) {
		t.Errorf("found %q", found)
	}
}

// A page with fewer entries than the code has is a fault of this tool.
func TestTooFewEntriesAreAnError(t *testing.T) {
	if err := (content{failures: parse(t, "").failures()}).complete(); err == nil || !strings.Contains(err.Error(), "0 checks") {
		t.Errorf("the error is %v", err)
	}
}

const around = `package example

const (
	halfInstalled = "HalfInstalled"
	check = "check it"
	retry = ", then retry"
	RefusedEpoch = "StaleEpoch"
)

func wrong(reason, format string, args ...any) error {
	return node.ManualIntervention(reason, nil, "use the right file", format, args...)
}

func invalid(where, format string, args ...any) error {
	remedy := fmt.Sprintf("Fix %s, then restart", where)
	return node.ManualIntervention("Invalid", nil, remedy, format, args...)
}

func orWait(remedy string) string { return remedy + ", or wait" }

func (d deb) failed(err error, reason, message string) error {
	return node.ManualIntervention(reason, err, "read the log", "%s", message)
}

func example() error {
CODE
}
`

func parse(t *testing.T, code string) *source {
	t.Helper()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "example.go"), []byte(strings.Replace(around, "CODE", code, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := readSource(root, ".")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
