package protect

import (
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Connections limits the connections of a listener, of all clients and of each. One beyond the
// limit is closed at once: it must not keep those of others waiting. Excess is called at most once
// a minute.
func Connections(l net.Listener, all, each int, excess func(client string)) net.Listener {
	return &connections{Listener: l, all: all, each: each, excess: excess, report: rate.Sometimes{Interval: time.Minute}, of: map[string]int{}}
}

type connections struct {
	net.Listener

	all, each int
	excess    func(client string)
	report    rate.Sometimes

	mu   sync.Mutex
	open int
	of   map[string]int
}

// Accept implements net.Listener.
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client := network(HostOf(conn.RemoteAddr().String()))
		if c.enter(client) {
			return &counted{Conn: conn, leave: sync.OnceFunc(func() { c.leave(client) })}, nil
		}
		_ = conn.Close() // the client sees that it is closed
		c.report.Do(func() { c.excess(client) })
	}
}

func (c *connections) enter(client string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= c.all || c.of[client] >= c.each {
		return false
	}
	c.open++
	c.of[client]++
	return true
}

func (c *connections) leave(client string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if c.of[client]--; c.of[client] == 0 {
		delete(c.of, client)
	}
}

// counted is a connection that counts until it is closed.
type counted struct {
	net.Conn

	leave func()
}

// Close implements net.Conn.
func (c *counted) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
