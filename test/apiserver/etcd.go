package apiserver

import (
	"context"
	"path/filepath"
	"strconv"
)

// EtcdEndpoint returns the address of etcd, which needs no certificate.
func (s *Server) EtcdEndpoint() string { return "http://" + s.etcdPort.address() }

func (s *Server) startEtcd(ctx context.Context) (err error) {
	client, peer := s.EtcdEndpoint(), "http://"+s.peerPort.address()
	args := []string{
		"--data-dir=" + s.file("etcd"),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=default=" + peer,
		"--socket-reuse-port=true",
		"--log-level=warn",
		// The data is discarded with the test; a crash of etcd alone does not lose the page cache.
		"--unsafe-no-fsync=true",
	}
	if s.options.EtcdQuota > 0 {
		args = append(args, "--quota-backend-bytes="+strconv.FormatInt(s.options.EtcdQuota, 10))
	}
	s.etcd, err = startProcess(ctx, s.file("etcd.log"), filepath.Join(s.binaries.EtcdBin, "etcd"), args...)
	return err
}
