package rehearsal

import (
	"context"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

// startEtcd starts etcd on the restored data. It is the first process of the network.
func (r *Runner) startEtcd(ctx context.Context, image string, m rehearsal.Manifest, memory uint64, timeout time.Duration) error {
	binary, err := find(image, "etcd")
	if err != nil {
		return err
	}
	variables, err := r.writeEnvironment(unitEtcd, m)
	if err != nil {
		return err
	}
	u := sandbox.Unit{
		Name: unitEtcd, Description: "Refit: etcd of a rehearsal", Kind: sandbox.Service, Command: append([]string{binary}, rehearsal.Etcd(m)...),
		Environment: limited(memory), EnvironmentFile: variables, Bounds: background(memory, timeout),
		Sandbox: &sandbox.Sandbox{ReadOnly: []sandbox.Bind{{Host: image, Path: rehearsal.Image}}, Writable: []sandbox.Bind{r.scratch()}},
		Output:  r.file(unitEtcd + ".out"), Log: r.file(unitEtcd + ".log"),
	}
	if err := r.fresh(u); err != nil {
		return err
	}
	return r.Units.Start(ctx, u)
}

// startAPIServer starts kube-apiserver in the network of etcd, with the mounts of its manifest.
func (r *Runner) startAPIServer(ctx context.Context, h Hop, s served, memory rehearsal.Memory, timeout time.Duration) error {
	binary, err := find(s.serverImage, "kube-apiserver")
	if err != nil {
		return err
	}
	variables, err := r.writeEnvironment(unitAPIServer, h.APIServer)
	if err != nil {
		return err
	}
	u := sandbox.Unit{
		Name: unitAPIServer, Description: "Refit: kube-apiserver of a rehearsal", Kind: sandbox.Service,
		Command:     append([]string{binary}, rehearsal.APIServer(h.APIServer, memory.WatchCache)...),
		Environment: limited(memory.APIServer), EnvironmentFile: variables, Bounds: background(memory.APIServer, timeout),
		Sandbox: &sandbox.Sandbox{
			ReadOnly: append([]sandbox.Bind{{Host: s.serverImage, Path: rehearsal.Image}}, s.binds...), Empty: s.empty,
			Writable: []sandbox.Bind{r.scratch()}, Joins: unitEtcd,
			ReadsAll: true, // its files and the sockets of KMS plugins can belong to others
		},
		Output: r.file(unitAPIServer + ".out"), Log: r.file(unitAPIServer + ".log"),
	}
	if err := r.fresh(u); err != nil {
		return err
	}
	return r.Units.Start(ctx, u)
}
