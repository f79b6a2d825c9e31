package protect_test

import (
	"errors"
	"net"
	"testing"

	"github.com/refit-dev/refit/internal/server/protect"
)

// queued is a listener with connections from addresses.
type queued struct {
	net.Listener

	from []string
}

func (q *queued) Accept() (net.Conn, error) {
	if len(q.from) == 0 {
		return nil, errors.New("no more")
	}
	conn, _ := net.Pipe()
	at := net.ParseIP(q.from[0])
	q.from = q.from[1:]
	return &from{Conn: conn, at: &net.TCPAddr{IP: at, Port: 1}}, nil
}

type from struct {
	net.Conn

	at net.Addr
}

func (f *from) RemoteAddr() net.Addr { return f.at }

// accepted returns the addresses of the connections that a listener accepts, and the connections.
func accepted(l net.Listener) (out []string, all []net.Conn) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return out, all
		}
		host, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
		out, all = append(out, host), append(all, conn)
	}
}

func TestAClientCannotUseAllConnections(t *testing.T) {
	q := &queued{from: []string{"10.0.0.1", "10.0.0.1", "10.0.0.1", "2001:db8::1", "2001:db8::2", "2001:db8::3", "::ffff:10.0.0.1", "10.0.0.2", "10.0.0.3"}}
	var excess []string
	l := protect.Connections(q, 5, 2, func(client string) { excess = append(excess, client) })
	got, open := accepted(l)
	if len(got) != 5 || got[2] != "2001:db8::1" || got[4] != "10.0.0.2" {
		t.Errorf("accepted %q", got)
	}
	if len(excess) != 1 || excess[0] != "10.0.0.1" {
		t.Errorf("reported %q", excess)
	}
	for range 2 { // a connection is closed twice, and counted once
		_ = open[0].Close()
	}
	q.from = []string{"10.0.0.1", "10.0.0.1", "10.0.0.4"}
	if got, _ := accepted(l); len(got) != 1 || got[0] != "10.0.0.1" {
		t.Errorf("after one was closed: accepted %q", got)
	}
}

func TestAHostHasOneLimitForItsIPv6Addresses(t *testing.T) {
	var clients []string
	for _, address := range []string{"[2001:db8::1]:1", "[2001:db8::ffff:1%eth0]:2", "[2001:db8:0:1::1]:1", "[::ffff:10.0.0.1]:1", "10.0.0.1:2", "@"} {
		clients = append(clients, protect.ClientOf(t.Context(), address))
	}
	if clients[0] != clients[1] || clients[0] == clients[2] || clients[3] != clients[4] || clients[5] != "@" {
		t.Errorf("%q", clients)
	}
}
