package journal

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Open opens a journal. It returns os.ErrNotExist as it is. It removes a last line that a kill or a
// power failure left incomplete, and refuses every other damage.
func Open(path, machineID string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, durable.Explain(err, "open the journal", path)
	}
	j := &Journal{file: file, path: path}
	if err := j.resume(machineID); err != nil {
		file.Close()
		return nil, err
	}
	return j, nil
}

// Read returns the records of a journal without changing it. Another process may be writing, so
// Read ignores an incomplete last line.
func Read(path, machineID string) ([]node.Record, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, durable.Explain(err, "open the journal", path)
	}
	defer file.Close()
	text, err := content(file)
	if err != nil {
		return nil, durable.Explain(err, "read the journal", path)
	}
	records, _, err := parse(path, machineID, text)
	return records, err
}

func (j *Journal) resume(machineID string) error {
	if err := lock(j.file); err != nil {
		return err
	}
	text, err := content(j.file)
	if err != nil {
		return durable.Explain(err, "read the journal", j.path)
	}
	records, good, err := parse(j.path, machineID, text)
	if err != nil {
		return err
	}
	if good < int64(len(text)) {
		if err := j.file.Truncate(good); err != nil {
			return durable.Explain(err, "truncate the incomplete end of the journal", j.path)
		}
	}
	// A killed agent may have written a record and not synced it. Later records depend on it, so it
	// must be on disk.
	if err := durable.Sync(j.file); err != nil {
		return durable.Explain(err, "read the journal", j.path)
	}
	j.records, j.size, j.allocated = records, good, good
	// The truncation freed the preallocated space. Without disk space it continues all the same: a
	// rollback must be possible, and a forward record tries again.
	if to := min(max(good+minPreallocated, preallocated), MaxSize); preallocate(j.file, good, to) == nil {
		j.allocated = to
	}
	return nil
}

func content(file *os.File) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is not a regular file: %s", info.Mode())
	}
	text, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err == nil && len(text) > MaxSize {
		return nil, damaged(file.Name(), "it has more than %d bytes, the maximum size of a journal", MaxSize)
	}
	return text, err
}
