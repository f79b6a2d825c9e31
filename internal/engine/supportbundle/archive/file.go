package archive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/internal/engine/durable"
)

// File creates the file of an archive, which only its owner may read. It never replaces a file, and
// after an error there is none.
func File(path string, write func(io.Writer) error) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("cannot create %s: %w", path, err)
	}
	if _, err := os.Lstat(path); err == nil {
		return exists(path)
	}
	temp := durable.Temp(path)
	err = durable.Create(temp, durable.Attributes{Mode: 0o600, Owner: durable.Caller}, func(f *os.File) error {
		buffered := bufio.NewWriterSize(f, 256<<10)
		if err := write(buffered); err != nil {
			return err
		}
		return buffered.Flush()
	})
	if err != nil {
		return err
	}
	if err = durable.RenameNew(temp, path); err == nil {
		return nil
	}
	_ = os.Remove(temp)
	if errors.Is(err, fs.ErrExist) {
		return exists(path)
	}
	return fmt.Errorf("cannot create %s: %w", path, err)
}

func exists(path string) error {
	return fmt.Errorf("%s exists already and is not replaced: choose another --file", path)
}
