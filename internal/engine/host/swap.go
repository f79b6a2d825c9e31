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

// SwapState is what is found where a file is to be replaced.
type SwapState string

// The states. A file that was and will be the same is New: nothing is left to do.
const (
	Old    SwapState = "Old"
	New    SwapState = "New"
	Other  SwapState = "Other" // neither: somebody else changed it
	Absent SwapState = "Absent"
)

// SwapStateOf looks which file is there, by the digests of the previous one and the new one.
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

// Stage copies a file next to the one that it will replace, so that the swap itself needs no room. It is a copy, never a link to the source: the two have
// different modes and owners, and what damages one must not damage the other.
func Stage(from, to string, mode fs.FileMode) error {
	if err := errors.Join(durable.CheckPath(from), durable.CheckPath(to)); err != nil {
		return err
	}
	want, err := Digest(from)
	if err != nil {
		return err
	}
	staged := beside(to, newSuffix)
	if have, err := digest(staged, unix.O_NOFOLLOW); err == nil && have == want {
		if info, err := os.Lstat(staged); err == nil && info.Mode() == mode {
			return durable.Explain(durable.SyncDir(filepath.Dir(to)), "staging", to)
		}
	}
	err = durable.Write(staged, mode, durable.Caller, func(file *os.File) error { return copyFrom(from, want, file) })
	return durable.Explain(err, "staging", to)
}

// copyFrom copies a file and sees that it is still the one that was meant.
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

// Swap puts the staged file in the place of the previous one, which is kept until DiscardPrevious. was and will are their digests; was is empty when nothing was there.
// What is neither was changed by somebody else, and is left alone.
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
		// A kill may have come between the rename and its way to the disk.
		if err := durable.SyncDir(filepath.Dir(to)); err != nil {
			return durable.Explain(err, "replacing", to)
		}
		return keepPrevious(to, was, will)
	case state == Old, state == Absent && was == "":
	case state == Absent && movedAside(to, was):
	default:
		return changedByOthers(to, was, state)
	}
	staged, err := digest(beside(to, newSuffix), unix.O_NOFOLLOW)
	if err != nil {
		return fmt.Errorf("replacing %s by what was staged: %w", to, err)
	}
	if staged != will {
		return node.Transient("StagedDamaged", nil, "say refit retry, which stages it again", "what was staged for %s is %s, not %s", to, staged, will)
	}
	if state == Old {
		if err := keepPrevious(to, was, was); err != nil {
			return err
		}
	}
	return durable.Explain(durable.Rename(beside(to, newSuffix), to), "replacing", to)
}

// MoveAside removes a file that Swap will replace later, and keeps it as Swap does. UndoSwap brings it back.
func MoveAside(to, was string) error {
	if err := durable.CheckPath(to); err != nil {
		return err
	}
	state, err := SwapStateOf(to, was, "")
	switch {
	case err != nil:
		return err
	case state == Absent && movedAside(to, was):
		return durable.Explain(durable.SyncDir(filepath.Dir(to)), "taking away", to)
	case state != Old:
		return changedByOthers(to, was, state)
	}
	if err := keepPrevious(to, was, was); err != nil {
		return err
	}
	return durable.Explain(durable.Remove(to), "taking away", to)
}

// movedAside says whether it was this agent that took a file away: it kept it.
func movedAside(to, was string) bool {
	kept, err := Digest(beside(to, oldSuffix))
	return err == nil && kept == was && was != ""
}

// keepPrevious sees to it that the previous file has a second name. It is a link, which needs no room and cannot be half done.
func keepPrevious(to, was, have string) error {
	if was == "" {
		return nil
	}
	old := beside(to, oldSuffix)
	kept, err := Digest(old)
	switch {
	case err == nil && kept == was:
		return durable.Explain(durable.SyncDir(filepath.Dir(to)), "keeping", to)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	case have != was:
		return node.ManualIntervention("PreviousLost", nil, "copy the file with the digest "+was+" to "+old+", then say refit retry",
			"%s is new already, but the previous file is not kept, so there would be no way back", to)
	}
	return durable.Explain(durable.Link(to, old), "keeping", to)
}

func changedByOthers(to, was string, state SwapState) error {
	found, before := "it is neither the previous file nor the new one", was
	if state == Absent {
		found = "it is gone"
	}
	if was == "" {
		before = "nothing"
	}
	return node.ManualIntervention("ChangedByOthers", nil,
		"find out who changed it; put back what was there ("+before+"), then say refit retry", "somebody else changed %s: %s", to, found)
}

// UndoSwap puts the previous file back; was and will are as in Swap. It needs no room on the disk. What is neither stays, which node.ErrKept says.
func UndoSwap(to, was, will string) error {
	if err := durable.CheckPath(to); err != nil {
		return err
	}
	state, err := SwapStateOf(to, was, will)
	switch {
	case err != nil:
		return err
	case state == Other:
		return fmt.Errorf("somebody else changed %s: %w", to, node.ErrKept)
	case was == "":
		return durable.Remove(to)
	case state == Old || was == will:
		return durable.Explain(durable.SyncDir(filepath.Dir(to)), "putting back", to)
	}
	old := beside(to, oldSuffix)
	kept, err := Digest(old)
	if errors.Is(err, os.ErrNotExist) || (err == nil && kept != was) {
		return node.HostBroken("PreviousLost", err, "put the file with the digest "+was+" back by hand", "the previous %s is not kept as %s", to, old)
	}
	if err != nil {
		return err
	}
	err = durable.Link(old, to)
	if errors.Is(err, unix.ENOSPC) {
		// The directory itself has no room for one more name. A rename needs none; the second name is lost, and no longer needed.
		err = durable.Rename(old, to)
	}
	return durable.Explain(err, "putting back", to)
}

// DiscardPrevious lets go of the previous file, and of what was staged.
func DiscardPrevious(to string) error {
	if err := durable.CheckPath(to); err != nil {
		return err
	}
	staged, kept := beside(to, newSuffix), beside(to, oldSuffix)
	for _, path := range []string{staged, kept, durable.Temp(staged), durable.Temp(kept), durable.Temp(to)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return durable.Explain(err, "settling", to)
		}
	}
	err := durable.SyncDir(filepath.Dir(to))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return durable.Explain(err, "settling", to)
}

// CheckUndoSwap refuses what UndoSwap could not do: the file was changed by somebody else, or the previous one is not kept.
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

// Why a file cannot be rolled back.
var (
	ErrChangedSince = errors.New("it was changed since the operation wrote it")
	ErrPreviousLost = errors.New("the previous file is not kept any more")
)
