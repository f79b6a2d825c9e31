package node

import (
	"errors"
	"fmt"
	"path/filepath"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Failure describes to an operator why something on a host failed. Adapters return it if they know
// more than a bare error.
type Failure struct {
	Class   refitv1alpha1.FailureClass `json:"class"`
	Reason  string                     `json:"reason"` // one CamelCase word
	Message string                     `json:"message"`
	Remedy  string                     `json:"remedy"`
	LogTail string                     `json:"logTail,omitempty"`
	// NoRollback is set if the host is not rolled back: the step changed nothing, or what it
	// changed is healthy.
	NoRollback bool  `json:"noRollback,omitempty"`
	Err        error `json:"-"`
}

func (f *Failure) Error() string {
	if f.Err != nil {
		return fmt.Sprintf("%s: %v", f.Message, f.Err)
	}
	return f.Message
}

func (f *Failure) Unwrap() error { return f.Err }

// Transient is a failure that resolves itself.
func Transient(reason string, err error, remedy, format string, args ...any) *Failure {
	return fail(refitv1alpha1.FailureTransient, reason, err, remedy, format, args)
}

// ManualIntervention is a failure whose cause an operator has to fix before a retry.
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

// DiskFull is the failure to write a path because its file system is full. The verb is an
// infinitive: "write".
func DiskFull(err error, verb, path string) *Failure {
	return ManualIntervention("DiskFull", err, "Free disk space on the file system of "+filepath.Dir(path)+", then run `refit retry`",
		"cannot %s %s: no disk space left", verb, path)
}

// DiskBroken is the failure to read or write a path because of an I/O error.
func DiskBroken(err error, verb, path string) *Failure {
	return HostBroken("DiskBroken", err, "Check the disk and the file system of "+filepath.Dir(path)+" (`dmesg`, `fsck`)",
		"cannot %s %s: the disk failed", verb, path)
}

// FailureOf returns the Failure in an error, or a generic one with the error's text.
func FailureOf(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	return ManualIntervention("StepFailed", err,
		"Check the agent's log on the host (`journalctl -u refit-agent`), fix the cause, then run `refit retry`", "the step failed")
}

// Text returns the failure in one line, without secrets and clipped for a status.
func (f *Failure) Text() string {
	return refitv1alpha1.Clip(Redact(f.Error()), refitv1alpha1.MaxMessage)
}

// Persistent returns the failure as the journal stores it, without secrets, because others read it.
// The message includes the text of the error, which cannot be serialized.
func (f *Failure) Persistent() *Failure {
	out := *f
	out.Message, out.Err = f.Text(), nil
	out.Remedy = refitv1alpha1.Clip(Redact(f.Remedy), refitv1alpha1.MaxMessage)
	out.LogTail = refitv1alpha1.ClipFront(Redact(f.LogTail), refitv1alpha1.MaxLogTail)
	return &out
}

// WithoutRollback marks a failure as one that does not roll back the host.
func WithoutRollback(err error) error {
	if err == nil {
		return nil
	}
	f := *FailureOf(err)
	f.NoRollback = true
	return &f
}

// ErrKept is returned by an undo that keeps the change of a step: it cannot or need not be undone.
var ErrKept = errors.New("the change is kept")
