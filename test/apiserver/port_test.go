package apiserver

import (
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAReservedPortIsFreeOnlyForAServerThatSharesIt(t *testing.T) {
	reserved, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := reserved.release(); err != nil {
			t.Error(err)
		}
	})
	listen := func(config net.ListenConfig) error {
		listener, err := config.Listen(t.Context(), "tcp4", reserved.address())
		if err != nil {
			return err
		}
		return listener.Close()
	}
	if listen(net.ListenConfig{}) == nil {
		t.Error("another program may listen")
	}
	sharing := net.ListenConfig{Control: func(_, _ string, socket syscall.RawConn) error {
		var failed error
		err := socket.Control(func(fd uintptr) { failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
		if err != nil {
			return err
		}
		return failed
	}}
	for range 2 { // the second time is a restart
		if err := listen(sharing); err != nil {
			t.Errorf("the server may not listen: %v", err)
		}
	}
	dialer := net.Dialer{}
	if connection, err := dialer.DialContext(t.Context(), "tcp4", reserved.address()); err == nil {
		connection.Close()
		t.Error("somebody answers though no server listens")
	}
}
