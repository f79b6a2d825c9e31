package apiserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// writeFiles writes the keys, certificates and the audit policy that kube-apiserver reads.
func (s *Server) writeFiles() error {
	serving, err := s.authority.serving()
	if err != nil {
		return err
	}
	if err := serving.write(s.file("serving.crt"), s.file("serving.key")); err != nil {
		return fmt.Errorf("writing the serving certificate: %w", err)
	}
	tokens, err := newKey()
	if err != nil {
		return err
	}
	tokenKey, err := encodeKey(tokens)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		"ca.crt": s.authority.pem, "service-accounts.key": tokenKey, "audit-policy.yaml": []byte(auditPolicy),
	} {
		if err := os.WriteFile(s.file(name), text, 0o600); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}

// startAPIServer starts kube-apiserver; it is ready some seconds later.
func (s *Server) startAPIServer(ctx context.Context) (err error) {
	args := []string{
		"--etcd-servers=http://" + s.etcdPort.address(),
		"--bind-address=" + loopback,
		"--secure-port=" + strconv.Itoa(s.port.number),
		"--permit-port-sharing=true",
		// Without a default route, kube-apiserver finds no address by itself.
		"--advertise-address=" + loopback,
		// The endpoint of the kubernetes Service cannot be a loopback address.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--tls-cert-file=" + s.file("serving.crt"),
		"--tls-private-key-file=" + s.file("serving.key"),
		"--client-ca-file=" + s.file("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + s.file("service-accounts.key"),
		"--service-account-signing-key-file=" + s.file("service-accounts.key"),
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--disable-admission-plugins=ServiceAccount",
		"--allow-privileged=true",
	}
	if s.options.Audit {
		args = append(args,
			"--audit-policy-file="+s.file("audit-policy.yaml"),
			"--audit-log-path="+s.file(auditLog),
			"--audit-log-maxsize=1000000") // megabytes: zero would mean 100, and then a rotation
	}
	if most := s.options.MaxRequestsInflight; most > 0 {
		args = append(args,
			"--max-requests-inflight="+strconv.Itoa(most), "--max-mutating-requests-inflight="+strconv.Itoa(most))
	}
	args = append(args, s.options.Flags...)
	s.apiserver, err = startProcess(ctx, s.file("kube-apiserver.log"), filepath.Join(s.binaries.Bin, "kube-apiserver"), args...)
	return err
}
