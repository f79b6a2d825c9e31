package node

import (
	"errors"
	"fmt"
	"path/filepath"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Failure is why something on a host did not work, told for a person. Engines return it where they know more than the
// words of a system call.
type Failure struct {
	Class   refitv1alpha1.FailureClass `json:"class"`
	Reason  string                     `json:"reason"` // one CamelCase word
	Message string                     `json:"message"`
	Remedy  string                     `json:"remedy"`
	LogTail string                     `json:"logTail,omitempty"`
	// Stay says that the host is not put back for it: the step changed nothing, or what it changed is well.
	Stay bool  `json:"stay,omitempty"`
	Err  error `json:"-"`
}

func (f *Failure) Error() string {
	if f.Err != nil {
		return fmt.Sprintf("%s: %v", f.Message, f.Err)
	}
	return f.Message
}

func (f *Failure) Unwrap() error { return f.Err }

// Transient is a failure that goes away by itself; ManualIntervention one that somebody has to mend, then say retry; HostBroken one of the host itself.
func Transient(reason string, err error, remedy, format string, args ...any) *Failure {
	return fail(refitv1alpha1.FailureTransient, reason, err, remedy, format, args)
}

// ManualIntervention is a failure that somebody has to mend.
func ManualIntervention(reason string, err error, remedy, format string, args ...any) *Failure {
	return fail(refitv1alpha1.FailureManualIntervention, reason, err, remedy, format, args)
}

// HostBroken is a failure of the host itself.
func HostBroken(reason string, err error, remedy, format string, args ...any) *Failure {
	return fail(refitv1alpha1.FailureHostBroken, reason, err, remedy, format, args)
}

func fail(class refitv1alpha1.FailureClass, reason string, err error, remedy, format string, args []any) *Failure {
	return &Failure{Class: class, Reason: reason, Message: fmt.Sprintf(format, args...), Remedy: remedy, Err: err}
}

// DiskFull is the failure of a file system without room for what was being done to a path.
func DiskFull(err error, doing, path string) *Failure {
	return ManualIntervention("DiskFull", err, "make room on the file system of "+filepath.Dir(path)+", then say refit retry", "no room for %s %s", doing, path)
}

// DiskBroken is the failure of a disk, or of what lies on it.
func DiskBroken(err error, doing, path string) *Failure {
	return HostBroken("DiskBroken", err, "check the disk and the file system of "+filepath.Dir(path)+" (dmesg, fsck)",
		"the disk failed while %s %s", doing, path)
}

// FailureOf finds the Failure in an error, or makes one that says what is known: the error's text.
func FailureOf(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return ManualIntervention("StepFailed", err, "see the agent's log on the host (journalctl -u refit-agent), mend the cause, then say refit retry", "it failed")
}

// Text is the whole failure in one line, without secrets and bounded for a status.
func (f *Failure) Text() string {
	return refitv1alpha1.Clip(Redact(f.Error()), refitv1alpha1.MaxMessage)
}

// Settled is the failure as a journal keeps it, without secrets, since others read it. The words of its error are in the message: an error itself
// cannot be written down.
func (f *Failure) Settled() *Failure {
	out := *f
	out.Message, out.Err = f.Text(), nil
	out.Remedy = refitv1alpha1.Clip(Redact(f.Remedy), refitv1alpha1.MaxMessage)
	out.LogTail = refitv1alpha1.ClipFront(Redact(f.LogTail), refitv1alpha1.MaxLogTail)
	return &out
}

// Staying marks a failure as one for which the host is not put back.
func Staying(err error) error {
	if err == nil {
		return nil
	}
	f := *FailureOf(err)
	f.Stay = true
	return &f
}

// ErrStays says that what a step brought cannot or need not be undone, and stays although the host goes back.
var ErrStays = errors.New("it stays")
