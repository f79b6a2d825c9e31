package host

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// SwapState is the state of a file that is swapped.
type SwapState string

// The states. A file whose old and new content are the same is New.
const (
	Old    SwapState = "Old"
	New    SwapState = "New"
	Other  SwapState = "Other" // neither: it was changed since
	Absent SwapState = "Absent"
)

// SwapStateOf compares a file with the digests of the previous and the new one.
func SwapStateOf(to, was, will string) (SwapState, error) {
	have, err := Digest(to)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Absent, nil
	case err != nil:
		return "", err
	case have == will:
		return New, nil
	case have == was:
		return Old, nil
	default:
		return Other, nil
	}
}

// Stage copies a file beside the one that it will replace, so that the swap needs no disk space. It
// does not link the source, which has other attributes and must not share damage. The mode is that
// of a file that replaces none.
func Stage(from, to string, mode fs.FileMode) error {
	if err := errors.Join(durable.CheckPath(from), durable.CheckPath(to)); err != nil {
		return err
	}
	want, err := Digest(from)
	if err != nil {
		return err
	}
	staged := beside(to, newSuffix)
	attributes, err := durable.AttributesFor(to, mode)
	if err != nil {
		return durable.Explain(err, "stage", to)
	}
	if have, err := digest(staged, unix.O_NOFOLLOW); err == nil && have == want {
		err := errors.Join(durable.SetAttributes(staged, attributes), durable.SyncDir(filepath.Dir(to)))
		return durable.Explain(err, "stage", to)
	}
	err = durable.Write(staged, attributes, func(file *os.File) error { return copyFrom(from, want, file) })
	return durable.Explain(err, "stage", to)
}

// copyFrom copies a file and checks its digest.
func copyFrom(from, want string, to io.Writer) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	sum := sha256.New()
	if _, err := io.Copy(to, io.TeeReader(source, sum)); err != nil {
		return err
	}
	if have := digestOf(sum); have != want {
		return fmt.Errorf("%s changed while it was copied: %s, then %s", from, want, have)
	}
	return nil
}

// Swap replaces the previous file with the staged one and keeps the previous one until
// DiscardPrevious. was and will are their digests; was is empty if there was no file. It does not
// replace any other content.
func Swap(to, was, will string) error {
	if err := durable.CheckPath(to); err != nil {
		return err
	}
	state, err := SwapStateOf(to, was, will)
	if err != nil {
		return err
	}
	switch {
	case state == New:
		// A killed agent may have renamed it without a sync.
		if err := errors.Join(durable.SyncDir(filepath.Dir(to)), forgetMove(to)); err != nil {
			return durable.Explain(err, "replace", to)
		}
		return keepPrevious(to, was, will)
	case state == Old, state == Absent && was == "":
	case state == Absent && movedAside(to, was):
	default:
		return changedByOthers(to, was, state)
	}
	staged, err := digest(beside(to, newSuffix), unix.O_NOFOLLOW)
	if err != nil {
		return fmt.Errorf("cannot replace %s by the staged file: %w", to, err)
	}
	if staged != will {
		return node.Transient("StagedDamaged", nil, "Run `refit retry`, which stages the file again",
			"the staged file for %s has digest %s, not %s", to, staged, will)
	}
	if state == Old {
		if err := keepPrevious(to, was, was); err != nil {
			return err
		}
	}
	if err := adoptAttributes(to, was); err != nil {
		return err
	}
	if err := durable.Rename(beside(to, newSuffix), to); err != nil {
		return durable.Explain(err, "replace", to)
	}
	return durable.Explain(forgetMove(to), "replace", to)
}

// MoveAside removes a file that Swap will replace later, and keeps it as Swap does. UndoSwap and
// RestoreMoved restore it.
func MoveAside(to, was string) error {
	if err := durable.CheckPath(to); err != nil {
		return err
	}
	state, err := SwapStateOf(to, was, "")
	switch {
	case err != nil:
		return err
	case state == Absent && movedAside(to, was):
		return durable.Explain(recordMove(to, was), "remove", to)
	case state != Old:
		return changedByOthers(to, was, state)
	}
	if err := keepPrevious(to, was, was); err != nil {
		return err
	}
	if err := recordMove(to, was); err != nil {
		return durable.Explain(err, "remove", to)
	}
	return durable.Explain(durable.Remove(to), "remove", to)
}

// movedAside reports whether MoveAside removed a file.
func movedAside(to, was string) bool {
	kept, err := Digest(beside(to, oldSuffix))
	return err == nil && kept == was && was != ""
}

// keepPrevious links the previous file to a second name, which is atomic and needs no disk space.
func keepPrevious(to, was, have string) error {
	if was == "" {
		return nil
	}
	old := beside(to, oldSuffix)
	kept, err := Digest(old)
	switch {
	case err == nil && kept == was:
		return durable.Explain(durable.SyncDir(filepath.Dir(to)), "keep", to)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case have != was:
		return node.ManualIntervention("PreviousLost", nil, "Copy the file with the digest "+was+" to "+old+", then run `refit retry`",
			"%s is already replaced, but the previous file is not kept, so a rollback would not be possible", to)
	}
	return durable.Explain(durable.Link(to, old), "keep", to)
}

func changedByOthers(to, was string, state SwapState) error {
	found, restore := "it is neither the previous file nor the new one", "restore the file with the digest "+was
	if state == Absent {
		found = "it is gone"
	}
	if was == "" {
		restore = "remove it, since it did not exist before"
	}
	return node.ManualIntervention("ChangedByOthers", nil,
		"Find out what changed it; "+restore+", then run `refit retry`", "%s was changed since: %s", to, found)
}

// UndoSwap restores the previous file without needing disk space. It returns node.ErrKept if the
// file was changed since.
func UndoSwap(to, was, will string) error {
	if err := durable.CheckPath(to); err != nil {
		return err
	}
	state, err := SwapStateOf(to, was, will)
	switch {
	case err != nil:
		return err
	case state == Other:
		return fmt.Errorf("%s was changed since: %w", to, node.ErrKept)
	case was == "":
		return durable.Remove(to)
	case state == Old || was == will:
		return durable.Explain(errors.Join(durable.SyncDir(filepath.Dir(to)), forgetMove(to)), "restore", to)
	}
	old := beside(to, oldSuffix)
	kept, err := Digest(old)
	if errors.Is(err, os.ErrNotExist) || (err == nil && kept != was) {
		return node.HostBroken("PreviousLost", err, "Restore the file with the digest "+was+" manually", "the previous %s is not kept as %s", to, old)
	}
	if err != nil {
		return err
	}
	if err := restorePrevious(to); err != nil {
		return err
	}
	return durable.Explain(forgetMove(to), "restore", to)
}

func restorePrevious(to string) error {
	old := beside(to, oldSuffix)
	err := durable.Link(old, to)
	if errors.Is(err, unix.ENOSPC) {
		// The directory cannot hold another name. A rename needs none.
		err = durable.Rename(old, to)
	}
	return durable.Explain(err, "restore", to)
}

// DiscardPrevious removes the previous and the staged file.
func DiscardPrevious(to string) error {
	if err := durable.CheckPath(to); err != nil {
		return err
	}
	staged, kept := beside(to, newSuffix), beside(to, oldSuffix)
	for _, path := range []string{staged, kept, beside(to, movedSuffix), durable.Temp(staged), durable.Temp(kept), durable.Temp(to)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return durable.Explain(err, "remove the previous version of", to)
		}
	}
	err := durable.SyncDir(filepath.Dir(to))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return durable.Explain(err, "remove the previous version of", to)
}

// CheckUndoSwap returns an error if UndoSwap would fail or keep the file.
func CheckUndoSwap(to, was, will string) error {
	state, err := SwapStateOf(to, was, will)
	switch {
	case err != nil:
		return err
	case state == Other:
		return fmt.Errorf("%s: %w", to, ErrChangedSince)
	case state == Old, was == "", was == will:
		return nil
	}
	if kept, err := Digest(beside(to, oldSuffix)); err != nil || kept != was {
		return fmt.Errorf("%s: %w", to, ErrPreviousLost)
	}
	return nil
}

// Reasons why a file cannot be rolled back.
var (
	ErrChangedSince = errors.New("it was changed since the operation wrote it")
	ErrPreviousLost = errors.New("the previous file is not kept any more")
)
