package journal

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// Open goes on with a journal. os.ErrNotExist passes through. A last line that a kill or a power cut has torn is cut off; anything else that is not as it
// was written is refused.
func Open(path, machineID string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, durable.Explain(err, "opening the journal", path)
	}
	j := &Journal{file: file, path: path}
	if err := j.resume(machineID); err != nil {
		file.Close()
		return nil, err
	}
	return j, nil
}

// Read is what a journal says, without touching it: another process may be writing to it, so that an unfinished last line is left out.
func Read(path, machineID string) ([]node.Record, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, durable.Explain(err, "opening the journal", path)
	}
	defer file.Close()
	text, err := content(file)
	if err != nil {
		return nil, durable.Explain(err, "reading the journal", path)
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
		return durable.Explain(err, "reading the journal", j.path)
	}
	records, good, err := parse(j.path, machineID, text)
	if err != nil {
		return err
	}
	if good < int64(len(text)) {
		if err := j.file.Truncate(good); err != nil {
			return durable.Explain(err, "cutting the torn end off the journal", j.path)
		}
	}
	// A record may have been written but not yet be on the disk when the one before us was killed. What is built upon from here on must be.
	if err := durable.Sync(j.file); err != nil {
		return durable.Explain(err, "reading the journal", j.path)
	}
	j.records, j.size, j.held = records, good, good
	// Cutting gives the disk behind the end back. Without room it goes on all the same: the way back must be open, and the way forward asks again.
	if to := min(max(good+least, ahead), MaxSize); hold(j.file, good, to) == nil {
		j.held = to
	}
	return nil
}

func content(file *os.File) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is no regular file but %s", info.Mode())
	}
	text, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err == nil && len(text) > MaxSize {
		return nil, damaged(file.Name(), "it has more than the %d bytes that a journal can have", MaxSize)
	}
	return text, err
}
