package rehearsal

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

// Hop is one version to rehearse.
type Hop struct {
	Version   string // v1.36.3
	EtcdImage string
	// Etcd is the rendered manifest; a zero value is an external etcd.
	Etcd      rehearsal.Manifest
	APIServer rehearsal.Manifest
}

// Result is the result of a rehearsal.
type Result struct {
	Figures rehearsal.Figures // of the drill, which comes first
	// Hops are in order. A hop with findings that are not Unknown ends the rehearsal: the next
	// version would run on data that this one could not handle.
	Hops []HopResult
	Took time.Duration
}

// HopResult is the result of one hop.
type HopResult struct {
	Version  string
	Findings []rehearsal.Finding
	Report   rehearsal.Report
	Memory   rehearsal.Memory // the bounds; WatchCache is false if it ran without
	// PeakMemory is that of the API server, if the host reports it.
	PeakMemory uint64
	Took       time.Duration
	LogTail    string // of the server that failed
}

// Rehearse restores a backup, compares it, and runs each hop on its data. Problems of the target
// version are findings; an error is a host or a backup that could not be used.
func (r *Runner) Rehearse(ctx context.Context, b Backup, hops []Hop) (result Result, err error) {
	start := time.Now()
	err = r.within(ctx, b.File, func(ctx context.Context) error {
		if result.Figures, err = r.drill(ctx, b); err != nil {
			return err
		}
		if err := r.drilled(result.Figures); err != nil {
			return err
		}
		for _, hop := range hops {
			done, err := r.hop(ctx, hop, result.Figures)
			if err != nil {
				return err
			}
			result.Hops = append(result.Hops, done)
			r.rehearsed(done)
			if blocked(done.Findings) {
				return nil
			}
		}
		return nil
	})
	result.Took = time.Since(start)
	return result, err
}

func blocked(findings []rehearsal.Finding) bool {
	for _, f := range findings {
		if !f.Unknown {
			return true
		}
	}
	return false
}

// hop runs one version on the data.
func (r *Runner) hop(ctx context.Context, h Hop, figures rehearsal.Figures) (result HopResult, err error) {
	start := time.Now()
	result = HopResult{Version: h.Version}
	defer func() { result.Took = time.Since(start) }()
	if result.Memory, err = r.memory(figures); err != nil {
		return result, err
	}
	binds, empty, findings := rehearsal.Binds(h.APIServer, exists)
	plugins, err := kms(ctx, h.APIServer)
	if err != nil {
		return result, err
	}
	result.Findings = slices.Concat(findings, plugins, missingTokens(h.APIServer))
	if len(result.Findings) > 0 {
		return result, nil
	}
	if err := r.writeTokens(h.APIServer); err != nil {
		return result, err
	}
	r.progress(h.Version, "mounting the images of "+h.Version, r.Timeouts.Mount)
	etcd, err := r.mount(ctx, "etcd", h.EtcdImage)
	if err != nil {
		return result, err
	}
	server, err := r.mount(ctx, "apiserver", h.APIServer.Image)
	if err != nil {
		return result, err
	}
	err = r.serve(ctx, h, served{etcd, server, binds, empty}, &result)
	return result, joinCleanup(ctx, err, r.stopServers)
}

// served is what the servers of a hop need besides its manifests.
type served struct {
	etcdImage, serverImage string
	binds                  []sandbox.Bind
	empty                  []string
}

// serve starts the servers, sends the requests and fills in the result.
func (r *Runner) serve(ctx context.Context, h Hop, s served, result *HopResult) error {
	timeout := r.Timeouts.Etcd + r.Timeouts.Ready + r.Timeouts.List + 2*reportMargin
	r.progress(h.Version, "starting the etcd of "+h.Version, r.Timeouts.Etcd)
	if err := r.startEtcd(ctx, s.etcdImage, h.Etcd, result.Memory.Etcd, timeout); err != nil {
		return err
	}
	// The API server gives up if etcd is not ready within 20 seconds, and a large one may not be.
	report, ended, err := r.queryEtcd(ctx)
	if err != nil {
		return err
	}
	if ended != "" {
		return r.ended(ctx, ended, h, result)
	}
	if report.Error != "" {
		return r.silent(ctx, h, report, result)
	}
	r.progress(h.Version, "starting kube-apiserver "+h.Version, r.Timeouts.Ready)
	if err := r.startAPIServer(ctx, h, s, result.Memory, timeout); err != nil {
		return err
	}
	r.progress(h.Version, "waiting until the API server is ready, then listing all resources", r.Timeouts.Ready+r.Timeouts.List)
	report, ended, err = r.request(ctx, r.Timeouts.Ready+r.Timeouts.List, []string{unitEtcd, unitAPIServer},
		"--apiserver="+rehearsal.APIServerURL, "--token-file="+rehearsal.Scratch+"/"+tokenName, "--ready-timeout="+seconds(r.Timeouts.Ready))
	if err != nil {
		return err
	}
	if ended != "" {
		return r.ended(ctx, ended, h, result)
	}
	result.Report, result.Findings = report, report.Findings()
	if outcome, err := r.Units.Outcome(ctx, unitAPIServer); err == nil {
		result.PeakMemory = outcome.PeakMemory
	}
	if len(result.Findings) > 0 {
		result.LogTail = node.Redact(r.tail(unitAPIServer))
	}
	return nil
}

// silent adds the finding of an etcd that runs and does not serve.
func (r *Runner) silent(ctx context.Context, h Hop, report rehearsal.Report, result *HopResult) error {
	etcd, err := r.Units.Outcome(ctx, unitEtcd)
	if err != nil {
		return err
	}
	if etcd.Ended { // since its last observation
		return r.ended(ctx, unitEtcd, h, result)
	}
	result.LogTail = node.Redact(r.tail(unitEtcd))
	result.Findings = append(result.Findings, rehearsal.Silent("the etcd of "+h.Version, report))
	return nil
}

// ended adds the finding of a server that ended by itself.
func (r *Runner) ended(ctx context.Context, unit string, h Hop, result *HopResult) error {
	outcome, err := r.Units.Outcome(ctx, unit)
	if err != nil {
		return err
	}
	name, manifest := "kube-apiserver "+h.Version, h.APIServer
	if unit == unitEtcd {
		name, manifest = "the etcd of "+h.Version, h.Etcd
	}
	result.LogTail = node.Redact(r.tail(unit))
	finding := rehearsal.Cause(name, manifest, result.LogTail)
	if !outcome.FailedItself() {
		finding = rehearsal.Killed(name, outcome)
	}
	result.Findings = append(result.Findings, finding)
	return nil
}

func (r *Runner) stopServers(ctx context.Context) error {
	for _, unit := range []string{unitAPIServer, unitEtcd} {
		if err := r.Units.Stop(ctx, unit); err != nil {
			return err
		}
		if err := os.Remove(r.environmentFile(unit)); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("cannot remove the environment of %s: %w", unit, err)
		}
	}
	return nil
}

// Fits returns a failure if the host has too little memory for a rehearsal on a database of a size.
func (r *Runner) Fits(bytes int64) error {
	_, err := r.memory(rehearsal.Figures{Bytes: bytes})
	return err
}

// memory decides how much memory the servers may use.
func (r *Runner) memory(f rehearsal.Figures) (rehearsal.Memory, error) {
	available, err := r.Available()
	if err != nil {
		return rehearsal.Memory{}, err
	}
	bound, err := rehearsal.Bound(rehearsal.Data{Bytes: uint64(f.Bytes), Keys: uint64(f.Entries)}, available)
	if err != nil {
		return bound, node.ManualIntervention("MemoryLow", err, "Free memory on this host, or rehearse on another control plane node",
			"this host has too little memory for a rehearsal")
	}
	return bound, nil
}

// writeTokens writes the token of the rehearsal, and the static tokens of the cluster with it, so
// that their file is tested.
func (r *Runner) writeTokens(m rehearsal.Manifest) error {
	token := rand.Text() + rand.Text()
	text := token + `,refit-rehearsal,refit-rehearsal,"system:masters"` + "\n"
	if file, ok := m.HostPath(m.Flag("token-auth-file")); ok {
		own, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("cannot read the static tokens of the cluster: %w", err)
		}
		text += string(own)
	}
	if err := os.WriteFile(r.file("work", "tokens.csv"), []byte(text), 0o600); err != nil {
		return err
	}
	return os.WriteFile(r.file("work", tokenName), []byte(token), 0o600)
}

// missingTokens returns the finding of a file of static tokens that does not exist. The API server
// of the rehearsal cannot report it: it reads another file.
func missingTokens(m rehearsal.Manifest) []rehearsal.Finding {
	name := m.Flag("token-auth-file")
	if file, mounted := m.HostPath(name); name == "" || (mounted && exists(file)) {
		return nil
	}
	return []rehearsal.Finding{rehearsal.MissingFile(name)}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
