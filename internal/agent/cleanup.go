package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/agent/steps"
)

// CleanUp removes what the agent left outside of its state directory, and the images that are
// mounted in it: a directory with a mounted image must not be removed.
func CleanUp(ctx context.Context, s settings.Settings) error {
	if err := removeRehearsal(ctx, &s); err != nil {
		return err
	}
	return RemoveRollbackFiles(s)
}

// RemoveRollbackFiles removes the files that upgrades keep next to the files they replaced, as the
// next upgrade would do. A rollback is impossible after that.
func RemoveRollbackFiles(s settings.Settings) error {
	upgrades, err := os.ReadDir(s.UpgradesDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot list the upgrades of this host: %w", err)
	}
	for _, upgrade := range upgrades {
		err = errors.Join(err, steps.Clean(&steps.Host{Settings: s, Dir: filepath.Join(s.UpgradesDir(), upgrade.Name())}))
	}
	return err
}
