package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/agent/steps"
)

// LetGo removes what works of this host kept beside the files that they replaced, as the next work would do. After that nothing goes back any more.
func LetGo(s settings.Settings) error {
	works, err := os.ReadDir(s.UpgradesDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading what works have kept: %w", err)
	}
	for _, work := range works {
		err = errors.Join(err, steps.Clean(&steps.Host{Settings: s, Dir: filepath.Join(s.UpgradesDir(), work.Name())}))
	}
	return err
}
