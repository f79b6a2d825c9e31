package socket

import (
	"net"
	"sync"
	"time"
)

// maxConnections bounds the memory and the file descriptors that clients can use.
const maxConnections = 16

// refused is the answer to a client beyond the limit.
const refused = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

// limited refuses connections beyond a number of open ones. A listener that stopped accepting
// instead would leave later clients waiting for a stream to end.
type limited struct {
	net.Listener

	slots chan struct{}
}

func newLimited(listener net.Listener, most int) *limited {
	return &limited{Listener: listener, slots: make(chan struct{}, most)}
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.slots <- struct{}{}:
			return &limitedConn{Conn: accepted, free: sync.OnceFunc(func() { <-l.slots })}, nil
		default:
			refuse(accepted)
		}
	}
}

// refuse cannot block: the answer fits into the empty buffer of the socket.
func refuse(conn net.Conn) {
	defer conn.Close()
	if conn.SetWriteDeadline(time.Now().Add(time.Second)) == nil {
		_, _ = conn.Write([]byte(refused))
	}
}

type limitedConn struct {
	net.Conn

	free func()
}

func (c *limitedConn) Close() error {
	defer c.free()
	return c.Conn.Close()
}
