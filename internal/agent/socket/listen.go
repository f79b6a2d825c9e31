package socket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// Group is the group whose members may read the status.
const Group = "refit"

const (
	dirMode   fs.FileMode = 0o755
	ownerOnly fs.FileMode = 0o600
	withGroup fs.FileMode = 0o660
)

// Listen creates the socket, and removes one that a killed agent has left. The caller holds the
// lock of the host, so no other agent serves it. Without the group, only root can connect.
func Listen(ctx context.Context, path, group string) (net.Listener, error) {
	if err := prepare(path); err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := restrict(path, group); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// prepare creates the directory, which systemd does for the service, and removes a stale socket. It
// removes nothing else.
func prepare(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s exists and is not a socket: %s", path, info.Mode())
	}
	return os.Remove(path)
}

// restrict closes the socket to everybody but its owner before it opens it to the group.
func restrict(path, group string) error {
	if err := os.Chmod(path, ownerOnly); err != nil {
		return err
	}
	found, err := user.LookupGroup(group)
	if _, unknown := errors.AsType[user.UnknownGroupError](err); unknown {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot look up the group %s: %w", group, err)
	}
	id, err := strconv.Atoi(found.Gid)
	if err != nil {
		return fmt.Errorf("the group %s has the ID %q: %w", group, found.Gid, err)
	}
	if err := os.Chown(path, -1, id); err != nil {
		return err
	}
	return os.Chmod(path, withGroup)
}
