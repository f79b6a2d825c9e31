package host

import (
	"errors"
	"io/fs"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// adoptAttributes gives the staged file the attributes that the previous one has now, wherever
// MoveAside has put it. Stage has done so already, so this needs no disk space.
func adoptAttributes(to, was string) error {
	if was == "" {
		return nil
	}
	previous, err := durable.AttributesOf(to)
	if errors.Is(err, fs.ErrNotExist) {
		previous, err = durable.AttributesOf(beside(to, oldSuffix))
	}
	if err == nil {
		err = durable.SetAttributes(beside(to, newSuffix), previous)
	}
	return durable.Explain(err, "replace", to)
}

// keepAttributes gives a file that a change has replaced the attributes of the one before. A change
// that writes a file in place, as kubeadm does, loses none.
func keepAttributes(before, now Entry) (Entry, error) {
	if before.Digest == "" || now.Digest == "" || len(before.Xattrs) == 0 || now.Xattrs.Equal(before.Xattrs) {
		return now, nil
	}
	if err := durable.SetAttributes(now.Path, before.attributes()); err != nil {
		return now, durable.Explain(err, "restore the attributes of", now.Path)
	}
	return inspect(now.Path)
}

// LostAttributes describes the attributes of the previous file that a swapped one does not have,
// because the file system or the security policy rejects them.
func LostAttributes(to string) ([]string, error) {
	previous, err := durable.AttributesOf(beside(to, oldSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, durable.Explain(err, "read the attributes of", to)
	}
	return lost(to, previous)
}

// LostAttributes describes the attributes of a saved file that the restored one does not have.
func (s *Saved) LostAttributes(path string) ([]string, error) {
	entry, _ := s.Entry(path)
	if entry.Digest == "" {
		return nil, nil
	}
	return lost(path, entry.attributes())
}

func lost(path string, previous durable.Attributes) ([]string, error) {
	now, err := durable.AttributesOf(path)
	if err != nil {
		return nil, durable.Explain(err, "read the attributes of", path)
	}
	return previous.Missing(now), nil
}
