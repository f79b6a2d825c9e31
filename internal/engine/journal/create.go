package journal

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Create creates a journal with its first record. If there is one, it fails with os.ErrExist and
// changes nothing.
func Create(path, machineID string, first node.Record) (*Journal, error) {
	if machineID == "" {
		return nil, errors.New("cannot create a journal: no machine ID")
	}
	head, err := headerLine(machineID)
	if err != nil {
		return nil, err
	}
	line, first, err := recordLine(first)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("cannot create the journal %s: %w", path, os.ErrExist)
	}
	temp := durable.Temp(path)
	// A killed agent may have left this file, which is not a journal yet. It is removed and not
	// truncated: the name could be a link to another file.
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, durable.Explain(err, "create the journal", path)
	}
	file, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, durable.Explain(err, "create the journal", path)
	}
	j := &Journal{file: file, path: path, size: int64(len(head) + len(line)), allocated: preallocated, records: []node.Record{first}}
	if err := j.initialize(temp, append(head, line...)); err != nil {
		file.Close()
		_ = os.Remove(temp)
		return nil, durable.Explain(err, "create the journal", path)
	}
	return j, nil
}

// initialize writes the content and then the name of a new journal to disk.
func (j *Journal) initialize(temp string, content []byte) error {
	if err := lock(j.file); err != nil {
		return err
	}
	if err := preallocate(j.file, 0, preallocated); err != nil {
		return err
	}
	if _, err := j.file.WriteAt(content, 0); err != nil {
		return err
	}
	if err := durable.Sync(j.file); err != nil {
		return err
	}
	return durable.RenameNew(temp, j.path)
}
