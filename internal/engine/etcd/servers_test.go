package etcd

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain runs all tests in parallel: most of the time they wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// etcdBinary returns etcd of a version from the cache of the testbed.
func etcdBinary(t *testing.T, version string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	must(t, err)
	found, _ := filepath.Glob(filepath.Join(cache, "refit-testbed", "etcd", "v"+version+"-*", "bin", "etcd"))
	if len(found) == 0 {
		t.Skipf("etcd %s is not in the testbed's cache: make testbed, then bin/testbed build", version)
	}
	return found[0]
}

// servers are real members on loopback, which stop with the test.
type servers struct {
	t       *testing.T
	dir     string
	members []*server
	flags   []string
}

type server struct {
	name, client, peer string
	process            *exec.Cmd
	log                *lines
	join               string // initial-cluster of one that joins later
}

type lines struct {
	sync.Mutex
	bytes.Buffer
}

func (l *lines) Write(text []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Buffer.Write(text)
}

// start starts a cluster of a version and waits until each member is ready.
func start(t *testing.T, version string, members int, flags ...string) *servers {
	t.Helper()
	path := etcdBinary(t, version)
	s := &servers{t: t, dir: t.TempDir(), flags: flags}
	certificates(t, s.dir)
	for i := range members {
		s.members = append(s.members, s.reserve(fmt.Sprintf("m%d", i+1)))
	}
	t.Cleanup(s.stop)
	for _, m := range s.members {
		s.run(m, path)
	}
	for i := range s.members {
		s.waitReady(i)
	}
	return s
}

// reserve binds ports for the whole test: a socket that never listens keeps other processes off the
// port, except those that share it (SO_REUSEPORT).
func (s *servers) reserve(name string) *server {
	s.t.Helper()
	m := &server{name: name, log: &lines{}}
	for _, at := range []*string{&m.client, &m.peer} {
		socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		must(s.t, err)
		s.t.Cleanup(func() { _ = unix.Close(socket) })
		must(s.t, unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1))
		must(s.t, unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
		name, err := unix.Getsockname(socket)
		must(s.t, err)
		*at = fmt.Sprintf("https://127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
	}
	return m
}

func (s *servers) run(m *server, path string) {
	s.t.Helper()
	file := func(name string) string { return filepath.Join(s.dir, name) }
	args := []string{
		"--name=" + m.name, "--socket-reuse-port", "--logger=zap", "--log-level=warn",
		"--data-dir=" + file(m.name), "--unsafe-no-fsync", "--heartbeat-interval=50", "--election-timeout=500",
		"--listen-client-urls=" + m.client, "--advertise-client-urls=" + m.client,
		"--listen-peer-urls=" + m.peer, "--initial-advertise-peer-urls=" + m.peer,
		"--client-cert-auth", "--trusted-ca-file=" + file("ca.crt"), "--cert-file=" + file("server.crt"), "--key-file=" + file("server.key"),
		"--peer-client-cert-auth", "--peer-trusted-ca-file=" + file("ca.crt"), "--peer-cert-file=" + file("server.crt"), "--peer-key-file=" + file("server.key"),
	}
	if m.join != "" {
		args = append(args, "--initial-cluster="+m.join, "--initial-cluster-state=existing")
	} else {
		args = append(args, "--initial-cluster="+s.initial())
	}
	m.process = exec.Command(path, append(args, s.flags...)...)
	m.process.Stdout, m.process.Stderr = m.log, m.log
	must(s.t, m.process.Start())
}

func (s *servers) initial() string {
	var all []string
	for _, m := range s.members {
		if m.join == "" {
			all = append(all, m.name+"="+m.peer)
		}
	}
	return strings.Join(all, ",")
}

// kill stops a member as a power failure does.
func (s *servers) kill(i int) {
	s.t.Helper()
	if m := s.members[i]; m.process != nil {
		_ = m.process.Process.Kill()
		_ = m.process.Wait()
		m.process = nil
	}
}

// restart starts a member again on its data.
func (s *servers) restart(i int, version string) {
	s.t.Helper()
	s.kill(i)
	s.run(s.members[i], etcdBinary(s.t, version))
}

func (s *servers) stop() {
	for i := range s.members {
		s.kill(i)
	}
	if s.t.Failed() {
		for _, m := range s.members {
			text := m.log.String()
			s.t.Logf("%s logged …%s", m.name, text[max(0, len(text)-3000):])
		}
	}
}

func (s *servers) config(i int) Config {
	return Config{
		Endpoints: []string{s.members[i].client},
		CA:        filepath.Join(s.dir, "ca.crt"), Cert: filepath.Join(s.dir, "client.crt"), Key: filepath.Join(s.dir, "client.key"),
	}
}

// on returns a client of one member.
func (s *servers) on(i int) *Client {
	s.t.Helper()
	client, err := Dial(s.config(i))
	must(s.t, err)
	s.t.Cleanup(func() { client.Close() })
	return client
}

func (s *servers) waitReady(i int) {
	s.t.Helper()
	client := s.on(i)
	eventually(s.t, "member "+s.members[i].name+" is ready", func() bool {
		ctx, cancel := context.WithTimeout(s.t.Context(), time.Second)
		defer cancel()
		return readByQuorum(ctx, client.local) == nil
	})
}

// leader returns the index of the leader.
func (s *servers) leader() int {
	s.t.Helper()
	for i := range s.members {
		if m, err := s.on(i).Local(s.t.Context()); err == nil && m.Leader {
			return i
		}
	}
	s.t.Fatal("there is no leader")
	return 0
}

func eventually(t *testing.T, condition string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timeout: %s", condition)
		}
	}
}

// certificates creates a CA, a certificate for members and one for clients.
func certificates(t *testing.T, dir string) {
	t.Helper()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "etcd-ca"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	caKey := pair(t, dir, "ca", ca, ca, nil)
	both := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for i, name := range []string{"server", "client"} {
		pair(t, dir, name, &x509.Certificate{
			SerialNumber: big.NewInt(int64(i) + 2), Subject: pkix.Name{CommonName: name}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: both[i:], IPAddresses: []net.IP{net.ParseIP("127.0.0.1")},
		}, ca, caKey)
	}
	server, err := os.ReadFile(filepath.Join(dir, "server.crt"))
	must(t, err)
	block, _ := pem.Decode(server)
	read, err := x509.ParseCertificate(block.Bytes)
	must(t, err)
	if len(read.ExtKeyUsage) != 2 {
		t.Fatal("members need a certificate for servers and clients")
	}
}

func pair(t *testing.T, dir, name string, template, parent *x509.Certificate, signer *ecdsa.PrivateKey) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	must(t, err)
	private, err := x509.MarshalECPrivateKey(key)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, name+".crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, name+".key"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}), 0o600))
	return key
}
