package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// Request is the request of an operator.
type Request struct {
	// Backup is UID/ATTEMPT or the name of an EtcdBackup. Without it the newest recorded backup
	// that retention has not deleted is restored.
	Backup string
	// Digest is that of the backup's manifest. Without it the recorded one is used.
	Digest     string
	Identities []age.Identity
	// Store is the store of the backup. Without it the recorded one is used.
	Store *refitv1alpha1.BackupStoreSpec
	// Run and After continue a restore that began on other hosts.
	Run   restore.Run
	After []string
	// Without are members that do not come back, and that the restored cluster does not have.
	Without []string
	Waived  []string
	// Options are the flags that the commands of the other hosts need, too.
	Options []string
	// Host is what the agent knows of the host.
	Host restore.Host
}

// Desk prepares restores on a host.
type Desk struct {
	Site
	Machine Machine
	// For sets the Node of the machine.
	For      func(member string)
	Records  backup.Records
	Open     func(spec *refitv1alpha1.BackupStoreSpec) (enginebackup.Target, error)
	CA       string // file of the cluster's CA certificate
	HostName string // of this host, which is the name of its Node
	Root     string // of the files of this host; empty for /
	// BackedUp returns the paths that a backup contains of a host whose API servers have these
	// manifests.
	BackedUp func(servers ...[]byte) backup.HostPaths
	Progress func(message string)
	Now      time.Time
	// Exclusive is set if no other command or agent changes the restores of this host.
	Exclusive bool
	// Point is called before and after each effect; tests stop there. It may be nil.
	Point func(name string)
}

// Prepared is a restore that can begin, unless it is refused.
type Prepared struct {
	Observation restore.Observation
	Decision    restore.Decision
	Restore     *Restore
	// Continues is set if the restore was confirmed before. Only its plan is known.
	Continues bool
}

// Prepare fetches the backup, observes the host and decides. It changes nothing but the directory
// of the run. A restore that was confirmed before is continued.
func (d *Desk) Prepare(ctx context.Context, request Request) (Prepared, error) {
	plan, open, err := d.Site.Open()
	if err != nil {
		return Prepared{}, err
	}
	if open {
		return d.resume(ctx, plan, request)
	}
	if err := cmp.Or(d.refuseExternal(), d.requireMember()); err != nil {
		return Prepared{}, err
	}
	if request.Run == 0 {
		request.Run = restore.NewRun(d.Now)
	}
	if exists(d.journalFile(request.Run)) {
		return Prepared{}, fmt.Errorf("the restore %s is complete on this host: leave out --run and --after to begin another one", request.Run)
	}
	if d.Exclusive {
		if err := d.RemoveUnconfirmed(); err != nil {
			return Prepared{}, err
		}
	}
	if len(request.Identities) == 0 {
		return d.replacement(ctx, request)
	}
	source, err := d.source(request)
	if err != nil {
		return Prepared{}, err
	}
	d.Progress("fetching and verifying the backup " + source.Expected.ID.String())
	fetched, err := d.fetch(ctx, source, request.Run)
	if err == nil {
		var p Prepared
		if p, err = d.decide(ctx, request, fetched); err == nil {
			return p, nil
		}
	}
	return Prepared{}, errors.Join(err, os.RemoveAll(d.RunDir(request.Run)))
}

// fetch reads and verifies the backup. Only a command that restores keeps the decrypted snapshot.
func (d *Desk) fetch(ctx context.Context, source Source, run restore.Run) (restore.Backup, error) {
	if d.Exclusive {
		return source.Fetch(ctx, d.Snapshot(run))
	}
	return source.Verify(ctx, d.Dir)
}

// refuseExternal refuses a host whose API server uses an external etcd: its members are not those
// of the control plane hosts. A host that has only lost the manifest of etcd connects to loopback.
func (d *Desk) refuseExternal() error {
	if exists(filepath.Join(d.Manifests, kubeadm.Etcd+".yaml")) {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(d.Manifests, kubeadm.APIServer+".yaml"))
	if err != nil {
		return nil //nolint:nilerr // the manifest of etcd is required later
	}
	config, err := etcd.ExternalConfigFromManifest(text)
	if err != nil || config.OnLoopback() {
		return nil //nolint:nilerr // as above
	}
	return fmt.Errorf("the API server of this host uses an external etcd (%s), which Refit does not restore: %s",
		strings.Join(config.Endpoints, ", "), restore.ExternalRemedy)
}

// requireMember refuses a host without a member of etcd, before an identity is copied to it.
func (d *Desk) requireMember() error {
	path := filepath.Join(d.Manifests, kubeadm.Etcd+".yaml")
	if exists(path) {
		return nil
	}
	return fmt.Errorf("this host has no member of etcd: there is no %s. Run the command on a control plane host", path)
}

// decide observes the host and decides on the fetched backup.
func (d *Desk) decide(ctx context.Context, request Request, fetched restore.Backup) (Prepared, error) {
	member, err := ReadMember(filepath.Join(d.Manifests, kubeadm.Etcd+".yaml"))
	if err != nil {
		return Prepared{}, err
	}
	d.For(member.Name)
	if slices.Contains(request.Without, member.Name) {
		return Prepared{}, fmt.Errorf("--without %s is this host: name the hosts that do not come back", member.Name)
	}
	all := fetched.Members
	if fetched.Members, err = without(all, request.Without); err != nil {
		return Prepared{}, err
	}
	o := restore.Observation{Now: d.Now, Run: request.Run, Backup: fetched, Host: request.Host, Waived: request.Waived}
	if err := d.identify(&o); err != nil {
		return Prepared{}, err
	}
	d.Progress("observing etcd and the API server")
	if err := member.Observe(ctx, d.Machine, &o); err != nil {
		return Prepared{}, err
	}
	if len(request.Without) > 0 {
		serving := d.Machine.Serving(ctx, member.manifest, member.Name, all)
		o.Etcd.LeftOut = slices.DeleteFunc(serving, func(name string) bool { return !slices.Contains(request.Without, name) })
	}
	p := Prepared{Observation: o, Decision: restore.Decide(o)}
	p.Restore = d.restore(restore.Plan{
		Run: request.Run, Situation: p.Decision.Situation, Backup: fetched.ID, Digest: fetched.Digest, ClusterUID: fetched.ClusterUID,
		Revision: fetched.Revision, Time: fetched.Time, Members: fetched.Members, Member: member.Name, After: request.After,
		EtcdImage: member.Image, DataDir: member.DataDir, Options: request.Options,
	})
	return p, nil
}

// identify completes an observation with what the host knows of its cluster.
func (d *Desk) identify(o *restore.Observation) error {
	for _, r := range d.Records.Backups {
		o.Host.ClusterUIDs = append(o.Host.ClusterUIDs, r.ClusterUID)
		if r.ClusterUID == o.Backup.ClusterUID {
			o.Host.Revision = max(o.Host.Revision, r.Revision)
		}
	}
	slices.Sort(o.Host.ClusterUIDs)
	o.Host.ClusterUIDs = slices.Compact(o.Host.ClusterUIDs)
	text, err := os.ReadFile(d.CA)
	if err != nil {
		return nil //nolint:nilerr // the CA is lost, too
	}
	if o.Host.CAs, err = kubeadm.CAKeys(text); err != nil {
		return fmt.Errorf("cannot read the CA of the cluster: %w", err)
	}
	return nil
}

// without leaves out members that do not come back.
func without(members []restore.Member, names []string) ([]restore.Member, error) {
	for _, name := range names {
		if !slices.ContainsFunc(members, func(m restore.Member) bool { return m.Name == name }) {
			return nil, fmt.Errorf("the backup has no member %q to restore without", name)
		}
	}
	return slices.DeleteFunc(slices.Clone(members), func(m restore.Member) bool { return slices.Contains(names, m.Name) }), nil
}

func (d *Desk) restore(plan restore.Plan) *Restore {
	return &Restore{Site: d.Site, Machine: d.Machine, Plan: plan, Progress: d.Progress, Point: d.Point, Timeouts: DefaultTimeouts()}
}

// source finds the backup and its store.
func (d *Desk) source(request Request) (Source, error) {
	id, digest, spec, host := request.Backup, request.Digest, request.Store, ""
	var marked *backup.Record
	if r := d.record(id); r != nil {
		if !r.Deleted.IsZero() && spec == nil {
			marked = r
		}
		recorded, known := d.Records.Stores[r.Store]
		if spec == nil && known {
			spec = &recorded
		}
		host = r.Node
		if id = r.ID(); digest == "" {
			digest = r.Digest
		}
	}
	if spec == nil && len(d.Records.Stores) == 1 {
		for _, only := range d.Records.Stores {
			spec = &only
		}
	}
	parsed, err := parseID(id)
	switch {
	case id == "" && len(d.Records.Backups) > 0:
		return Source{}, errors.New("retention has deleted every recorded backup: name one with --backup=UID/ATTEMPT, and its store with --store=FILE")
	case id == "":
		return Source{}, errors.New("no backup is recorded on this host: name one with --backup=UID/ATTEMPT, and its store with --store=FILE")
	case err != nil:
		return Source{}, err
	case spec == nil:
		return Source{}, errors.New("the store of the backup is not recorded on this host: write the BackupStore to a file and pass it with --store=FILE")
	case len(request.Identities) == 0:
		return Source{}, errors.New("no identity: pass the file with the age identity of the backups with --identity=FILE")
	}
	from, err := d.Open(spec)
	if err != nil {
		return Source{}, err
	}
	out := Source{From: from, Expected: backup.Expected{ID: parsed, ManifestDigest: digest}, Identities: request.Identities, Node: host, Deleted: marked}
	if spec.Path != nil {
		out.Directory = spec.Path.Directory
	}
	return out, nil
}

// record returns the record of a backup by its ID or name, or nil. Without either it is the newest
// one that retention has not deleted.
func (d *Desk) record(name string) *backup.Record {
	for i := range d.Records.Backups {
		r := &d.Records.Backups[i]
		if name == "" && r.Deleted.IsZero() || name != "" && (name == r.ID() || name == r.Name) {
			return r
		}
	}
	return nil
}

// deleted is the failure to restore a backup that retention has deleted.
func deleted(r *backup.Record, cause error) error {
	return node.ManualIntervention("BackupDeleted", cause,
		"Choose another backup (`refit-agent restore --list`). If you have a copy, pass the BackupStore that has it with --store=FILE",
		"retention deleted %s from BackupStore %s on %s", r.Name, r.Store, phrase.Moment(r.Deleted))
}

// parseID parses UID/ATTEMPT.
func parseID(text string) (backup.ID, error) {
	var id backup.ID
	uid, attempt, ok := strings.Cut(text, "/")
	_, err := fmt.Sscanf(attempt, "%d", &id.Attempt)
	id.UID = uid
	if !ok || err != nil || id.Validate() != nil {
		return id, fmt.Errorf("%q is neither a recorded backup nor UID/ATTEMPT", text)
	}
	return id, nil
}

// Discard removes the files of a run that was not confirmed.
func (p Prepared) Discard() error {
	if p.Restore == nil || p.Continues {
		return nil
	}
	return os.RemoveAll(p.Restore.RunDir(p.Restore.Plan.Run))
}
