package helm

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNoRelease is returned if the release has no revision. The caller installs it.
	ErrNoRelease = errors.New("the release does not exist")
	// ErrLeaseLost is returned for each request after the lease of the leader has ended. The caller
	// stops: another leader repeats the action.
	ErrLeaseLost = errors.New("the lease of the leader has ended")
	// ErrRecordTooLarge is returned before a record is written that exceeds the size of a Secret.
	// The chart or its values must become smaller.
	ErrRecordTooLarge = errors.New("the record of Helm exceeds the size of a Secret")
	// ErrOtherStorage is returned for a release that Helm stores in ConfigMaps. It must be upgraded
	// with the same driver, or moved to Secrets.
	ErrOtherStorage = errors.New("the release is stored in ConfigMaps, not in Secrets")
	// ErrRemoteSchema is returned for a chart whose values.schema.json refers to another document.
	ErrRemoteSchema = errors.New("values.schema.json refers to another document")
	// ErrValues is returned if the values do not match the schema of the chart.
	ErrValues = errors.New("the values are invalid")
)

// A PendingError is returned while an action that is not this one is in progress on the release.
// The caller waits and tries again. If the action is an abandoned one of Refit, the caller may call
// Unlock.
type PendingError struct {
	Revision    int
	Status      string
	Description string
}

func (e *PendingError) Error() string {
	return fmt.Sprintf("revision %d is %s: %s", e.Revision, e.Status, e.Description)
}

// Mark returns the mark of the pending action, if it is one of Refit.
func (e *PendingError) Mark() (Mark, bool) { return parseMark(e.Description) }

// A DeletionError is returned before an action that would delete objects which are not approved, or
// CRDs. The caller makes a new plan.
type DeletionError struct{ Objects []Ref }

func (e *DeletionError) Error() string {
	names := make([]string, 0, len(e.Objects))
	for _, ref := range e.Objects {
		names = append(names, ref.String())
	}
	return "the action would delete " + strings.Join(names, ", ")
}

// A NotInstalledError is returned before something is deleted that another operation installed.
type NotInstalledError struct {
	Revision    int
	Description string
}

func (e *NotInstalledError) Error() string {
	return fmt.Sprintf("revision %d is of another operation: %s", e.Revision, e.Description)
}
