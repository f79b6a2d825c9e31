package text_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
)

// The live view of an upgrade. Read the golden files: they are the design.
func TestFrames(t *testing.T) {
	for _, s := range scenes() {
		for _, width := range []int{80, 120} {
			t.Run(fmt.Sprintf("%s at %d", s.name, width), func(t *testing.T) {
				golden(t, fmt.Sprintf("frame-%s-%d", s.name, width), text.Frame(s.progress(), text.Page{Width: width}, 50, noon), width)
			})
		}
	}
}

// Colors carry no information that the text does not have.
func TestColorsOfFrames(t *testing.T) {
	codes := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, s := range scenes() {
		colored := text.Frame(s.progress(), text.Page{Width: 100, Color: true}, 50, noon)
		plain := text.Frame(s.progress(), text.Page{Width: 100}, 50, noon)
		if codes.ReplaceAllString(colored, "") != plain {
			t.Errorf("%s: without its colors the frame is another one:\n%s", s.name, colored)
		}
	}
	for _, name := range []string{"stalled", "running"} {
		golden(t, "frame-"+name+"-color", strings.ReplaceAll(
			text.Frame(findScene(t, name).progress(), text.Page{Width: 100, Color: true}, 50, noon), "\x1b", "ESC"), 200)
	}
}

// A frame that is too high or too wide cannot be redrawn.
func TestFramesFitTheTerminal(t *testing.T) {
	for _, s := range scenes() {
		for _, size := range [][2]int{{40, 8}, {80, 12}, {200, 24}} {
			frame := text.Frame(s.progress(), text.Page{Width: size[0], Color: true}, size[1], noon)
			lines := strings.Split(strings.TrimSuffix(frame, "\n"), "\n")
			if len(lines) >= size[1] {
				t.Errorf("%s has %d lines on a terminal of %d", s.name, len(lines), size[1])
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(line, "")); n > size[0] {
					t.Errorf("%s has a line of %d columns on a terminal of %d: %q", s.name, n, size[0], line)
				}
			}
		}
	}
}

func findScene(t *testing.T, name string) *scene {
	t.Helper()
	for _, s := range scenes() {
		if s.name == name {
			return s
		}
	}
	t.Fatalf("there is no scene %s", name)
	return nil
}

// The output of `refit status` ends with the next commands.
func TestStatusPages(t *testing.T) {
	line := func(command string) string { return "refit " + command + " --context prod" }
	for _, name := range []string{"awaiting-approval", "stalled", "paused", "aborted", "alone-failed", "alone-aborted"} {
		golden(t, "status-"+name, text.Status(findScene(t, name).progress(), text.Page{Width: 100}, noon, line), 200)
	}
}

// The log of a whole upgrade.
func TestLinesOfAnUpgrade(t *testing.T) {
	var out strings.Builder
	var last *cliv1alpha1.Operation
	write := func(o *cliv1alpha1.Operation, after time.Duration) {
		out.WriteString(text.OperationLines(last, o, o.StartTime.Add(after)))
		last = o
	}
	for i, name := range []string{
		"planning", "awaiting-approval", "fetching", "agent-waits", "away", "settling", "draining", "drain-blocked", "stalled", "stalled", "paused", "running", "done",
	} {
		write(findScene(t, name).progress(), time.Duration(i)*31*time.Second)
	}
	golden(t, "lines", out.String(), 200)
}

// Neither an evicted pod, nor elapsed time, nor the moment between two steps adds a line to a log.
func TestLinesAreOnlyOfWhatChanged(t *testing.T) {
	before, after := findScene(t, "draining").progress(), findScene(t, "draining").progress()
	after.Active[0].Remaining--
	after.Message, after.LeftSeconds = "Draining worker-1: 2 pods have to move", 7
	if lines := text.OperationLines(before, after, noon); lines != "" {
		t.Errorf("the lines are %q", lines)
	}
	between, at := findScene(t, "running").progress(), findScene(t, "running").progress()
	between.Active[0].Step = ""
	if lines := text.OperationLines(at, between, noon); lines != "" {
		t.Errorf("the lines are %q", lines)
	}
	after.Active[0].Blockers = []cliv1alpha1.Blocker{{Pod: "shop/cart", Reason: "it stays"}}
	if lines := text.OperationLines(before, after, noon); !strings.Contains(lines, "shop/cart: it stays") {
		t.Errorf("the lines are %q", lines)
	}
}

// Five thousand nodes do not make a log of a hundred thousand lines: of many active nodes, only the
// blocked ones get a line.
func TestLinesOfManyNodes(t *testing.T) {
	o := findScene(t, "large").progress()
	if lines := text.OperationLines(nil, o, noon); strings.Count(lines, "\n") > 6 {
		t.Errorf("the lines are\n%s", lines)
	}
}

func TestStatusOfAChangedPlanNamesTheHashToApprove(t *testing.T) {
	s := findScene(t, "awaiting-approval")
	s.operation.Status.Plan.ProposedHash = "sha256:" + strings.Repeat("f", 64)
	page := text.Status(s.progress(), text.Page{Width: 200}, noon, func(c string) string { return c })
	if want := "--plan " + s.operation.Status.Plan.ProposedHash; !strings.Contains(page, want) {
		t.Errorf("the page does not contain %q:\n%s", want, page)
	}
}

// Text from a cluster cannot control the terminal.
func TestOperationShowsNothingThatActs(t *testing.T) {
	s := findScene(t, "drain-blocked")
	s.operation.Status.Message = "x\x1b[2J\ny"
	s.node("worker-1").Status.Drain.Blockers[0].Reason = "\x1b]0;title\x07"
	s.operation.Status.Failures = []refitv1alpha1.Failure{{Node: "n\x1b[1m", Message: "m\rm", Remedy: "\u202er"}}
	for _, page := range []string{
		text.Frame(s.progress(), text.Page{Width: 100}, 50, noon), text.OperationLines(nil, s.progress(), noon),
		text.Status(s.progress(), text.Page{Width: 100}, noon, func(c string) string { return c }),
	} {
		if strings.ContainsAny(page, "\x1b\x07\r\u202e") {
			t.Errorf("it shows what nobody should see: %q", page)
		}
	}
}

// The wording of a message decides nothing: its reason does.
func TestTheReasonDecidesHowAStateIsWritten(t *testing.T) {
	for situation, c := range map[string]struct {
		operation cliv1alpha1.Operation
		want      string
	}{
		"approval, in other words": {
			cliv1alpha1.Operation{Phase: "AwaitingApproval", Reason: refitv1alpha1.ReasonApprovalRequired, Message: "Plan 1 needs approval"},
			"  Plan 1 needs approval\n",
		},
		"another reason, in the words of an approval": {
			cliv1alpha1.Operation{Phase: "AwaitingApproval", Reason: refitv1alpha1.ReasonPlanChanged, Message: "Waiting for approval of plan 2"},
			"  Waiting for approval: Waiting for approval of plan 2\n",
		},
		"paused, in other words": {
			cliv1alpha1.Operation{Phase: "Paused", Reason: refitv1alpha1.ReasonPaused, Message: "The operation is paused"},
			"  Paused\n",
		},
	} {
		if got := text.OperationLines(&cliv1alpha1.Operation{}, &c.operation, c.operation.StartTime); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %q, want %q", situation, got, c.want)
		}
	}
}
