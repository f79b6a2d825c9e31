package helm

import (
	"errors"
	"strconv"
	"strings"
)

// maxFailure bounds the text of a failure.
const maxFailure = 2 << 10

// maxMark is below the length that Helm accepts as a description, 256 characters.
const maxMark = 200

// A Mark identifies an action in the description of its revision: refit/OPERATION/SEQUENCE, and
// /STEP if an order has more than one action.
type Mark struct {
	Operation string // name of the operation, unique for each journal
	Sequence  int64  // of the order
	Step      string // of the order, such as wave-1
}

func (m Mark) String() string {
	text := "refit/" + m.Operation + "/" + strconv.FormatInt(m.Sequence, 10)
	if m.Step != "" {
		text += "/" + m.Step
	}
	return text
}

func (m Mark) validate() error {
	if m.Operation == "" || strings.ContainsAny(m.Operation+m.Step, "/: \n") || len(m.String()) > maxMark {
		return errors.New("invalid mark " + strconv.Quote(m.String()))
	}
	return nil
}

// describe returns the description of a revision. Helm's own text is kept for failures.
func (m Mark) describe(failure string) string {
	if failure == "" {
		return m.String()
	}
	if len(failure) > maxFailure { // each object may have failed, and the record has a limit
		failure = strings.ToValidUTF8(failure[:maxFailure], "") + " …"
	}
	if strings.HasPrefix(failure, m.String()) {
		return failure
	}
	return m.String() + ": " + failure
}

// parseMark returns the mark in a description, with or without the reason of a failure.
func parseMark(description string) (Mark, bool) {
	text, _, _ := strings.Cut(description, ": ")
	words := strings.Split(text, "/")
	if len(words) < 3 || len(words) > 4 || words[0] != "refit" || words[1] == "" {
		return Mark{}, false
	}
	sequence, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return Mark{}, false
	}
	mark := Mark{Operation: words[1], Sequence: sequence}
	if len(words) == 4 {
		mark.Step = words[3]
	}
	return mark, mark.validate() == nil
}
