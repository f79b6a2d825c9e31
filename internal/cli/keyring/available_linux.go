package keyring

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/godbus/dbus/v5"
)

// queryTimeout bounds the question which services the bus has.
const queryTimeout = 2 * time.Second

// available reports whether the session of the user has a Secret Service, or can start one. It
// starts no session: servers have none.
func available(getenv func(string) string) bool {
	address := getenv("DBUS_SESSION_BUS_ADDRESS")
	if address == "" {
		socket := filepath.Join(getenv("XDG_RUNTIME_DIR"), "bus")
		if _, err := os.Stat(socket); err != nil || !filepath.IsAbs(socket) {
			return false
		}
		address = "unix:path=" + socket
	}
	ctx, cancel := context.WithTimeout(context.Background(), queryTimeout)
	defer cancel()
	connection, err := dbus.Connect(address, dbus.WithContext(ctx))
	if err != nil {
		return false
	}
	defer connection.Close()
	for _, method := range []string{"org.freedesktop.DBus.ListNames", "org.freedesktop.DBus.ListActivatableNames"} {
		var names []string
		if err := connection.BusObject().CallWithContext(ctx, method, 0).Store(&names); err == nil && slices.Contains(names, "org.freedesktop.secrets") {
			return true
		}
	}
	return false
}
