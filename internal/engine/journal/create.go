package journal

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Create begins a journal, with its first record in it. It fails with os.ErrExist when there is one, and leaves that alone.
func Create(path, machineID string, first node.Record) (*Journal, error) {
	if machineID == "" {
		return nil, errors.New("making a journal: without a machine ID another machine's could not be told from it")
	}
	head, err := headLine(machineID)
	if err != nil {
		return nil, err
	}
	line, first, err := recordLine(first)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("making the journal %s: %w", path, os.ErrExist)
	}
	temp := durable.Temp(path)
	// What a killed agent left under that name is no journal yet. Removed, not truncated: never write through a name that somebody else may have linked.
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, durable.Explain(err, "making the journal", path)
	}
	file, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_RDWR|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, durable.Explain(err, "making the journal", path)
	}
	j := &Journal{file: file, path: path, size: int64(len(head) + len(line)), held: ahead, records: []node.Record{first}}
	if err := j.begin(temp, append(head, line...)); err != nil {
		file.Close()
		_ = os.Remove(temp)
		return nil, durable.Explain(err, "making the journal", path)
	}
	return j, nil
}

// begin brings content and name of a new journal to the disk, in this order.
func (j *Journal) begin(temp string, content []byte) error {
	if err := lock(j.file); err != nil {
		return err
	}
	if err := hold(j.file, 0, ahead); err != nil {
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
