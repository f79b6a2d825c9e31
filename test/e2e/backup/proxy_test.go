//go:build e2e

package backup

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// proxy forwards connections to a server, until it is out of bytes.
type proxy struct {
	address string
	to      string
	left    atomic.Int64 // bytes that it still forwards to the server
	silent  bool         // then it swallows everything instead of closing connections

	mu    sync.Mutex
	conns []net.Conn
}

// newProxy starts a proxy that forwards so many bytes to a server.
func newProxy(t *testing.T, to string, bytes int64, silent bool) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: listener.Addr().String(), to: to, silent: silent}
	p.left.Store(bytes)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		p.closeAll()
	})
	return p
}

func (p *proxy) serve(client net.Conn) {
	backend, err := net.Dial("tcp", p.to)
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	p.conns = append(p.conns, client, backend)
	p.mu.Unlock()
	go func() { _, _ = io.Copy(client, backend) }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			_, _ = client.Close(), backend.Close()
			return
		}
		if p.left.Add(int64(-n)) >= 0 {
			_, err = backend.Write(buffer[:n])
		} else if !p.silent {
			p.closeAll()
			return
		}
		if err != nil {
			_, _ = client.Close(), backend.Close()
			return
		}
	}
}

func (p *proxy) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		_ = conn.Close()
	}
	p.conns = nil
}
