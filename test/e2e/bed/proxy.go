package bed

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy forwards connections to a server, until it is out of bytes.
type Proxy struct {
	Address string // host and port
	to      string
	left    atomic.Int64 // bytes that it still forwards to the server
	silent  bool         // then it swallows everything instead of closing connections

	mu    sync.Mutex
	conns []net.Conn
}

// NewProxy starts a proxy on an address of this machine that forwards so many bytes to a server. It
// ends with the test.
func NewProxy(t *testing.T, host, to string, bytes int64, silent bool) *Proxy {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", net.JoinHostPort(host, "0"))
	Must(t, err)
	p := &Proxy{Address: listener.Addr().String(), to: to, silent: silent}
	p.Allow(bytes)
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

// Allow makes the proxy forward so many bytes from now on.
func (p *Proxy) Allow(bytes int64) { p.left.Store(bytes) }

// Exhausted reports whether the proxy is out of bytes.
func (p *Proxy) Exhausted() bool { return p.left.Load() < 0 }

func (p *Proxy) serve(client net.Conn) {
	backend, err := net.Dial("tcp", p.to) //nolint:noctx // a server of the test
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

func (p *Proxy) closeAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		_ = conn.Close()
	}
	p.conns = nil
}
