package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/refit-dev/refit/internal/engine/durable"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// FileRestore is a restore of the files of a control plane host: certificates, kubeconfigs, static
// pod manifests, and what flags of the API server name.
type FileRestore struct {
	Backup  restore.Backup
	Changes []restore.FileChange
	// From is the host of the backup if it is another one.
	From     string
	Refusals []restore.Refusal

	root     string
	archived map[string]restore.File
	paths    backup.HostPaths // that may be written
}

// hostManifest is the manifest that names the host of a backup.
const hostManifest = "/etc/kubernetes/manifests/etcd.yaml"

// PrepareFiles fetches the files of a host from a backup, compares them with those on this host and
// decides. It changes nothing.
func (d *Desk) PrepareFiles(ctx context.Context, request Request, overwrite []string) (*FileRestore, error) {
	plan, open, err := d.Site.Open()
	if err != nil {
		return nil, err
	}
	if open {
		return nil, fmt.Errorf("the restore %s is open on this host and has moved manifests away: continue or cancel it first", plan.Run)
	}
	source, err := d.source(request)
	if err != nil {
		return nil, err
	}
	d.Progress("fetching the files of the host from the backup " + source.Expected.ID.String())
	f := &FileRestore{root: d.root()}
	if f.Backup, f.archived, err = source.hostFiles(ctx); err != nil {
		return nil, err
	}
	if f.From = memberIn(f.archived[hostManifest].Content); f.From == d.HostName {
		f.From = ""
	}
	if f.paths, err = f.backedUp(d.BackedUp); err != nil {
		return nil, err
	}
	outside := map[string]string{}
	for path := range f.archived {
		if outside[path], err = f.outside(path); err != nil {
			return nil, err
		}
	}
	present, err := f.present(outside)
	if err != nil {
		return nil, err
	}
	o := restore.Observation{Now: d.Now, Backup: f.Backup, Host: request.Host, Waived: request.Waived}
	if err := d.identify(&o); err != nil {
		return nil, err
	}
	f.Refusals = restore.RefuseFiles(o)
	f.Changes, err = restore.Files(f.archived, present, restore.FileRequest{
		Now: d.Now, From: f.From, Overwrite: overwrite, Outside: outside,
	})
	return f, err
}

func (d *Desk) root() string {
	if d.Root == "" {
		return "/"
	}
	return d.Root
}

// memberIn returns the name of the member in a manifest of etcd, which is that of the Node.
func memberIn(manifest []byte) string {
	m, err := kubeadm.Parse(manifest)
	if err != nil || len(m.Flags["name"]) == 0 {
		return "another host"
	}
	return m.Flags["name"][0]
}

// hostFiles reads the files of the host.
func (s Source) hostFiles(ctx context.Context) (b restore.Backup, files map[string]restore.File, err error) {
	stored, err := s.find(ctx)
	if err != nil {
		return b, nil, err
	}
	b = s.describe(stored)
	at := slices.IndexFunc(stored.Manifest.Parts, func(p backup.Part) bool { return p.Name == backup.PartHost })
	if at < 0 {
		return b, nil, errors.New("the backup has no files of a host")
	}
	files, err = s.readPart(ctx, stored.Manifest, stored.Manifest.Parts[at], func(string) bool { return true })
	if err == nil {
		b.CAs, err = casOf(files)
	}
	if err != nil {
		return b, nil, unverified(err, stored.Manifest)
	}
	return b, files, nil
}

// present reads the files of this host that the backup has, too.
func (f *FileRestore) present(outside map[string]string) (map[string]restore.File, error) {
	present := map[string]restore.File{}
	for path := range f.archived {
		if outside[path] != "" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(f.root, path))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, durable.Explain(err, "read", path)
		default:
			present[path] = restore.File{Path: path, Content: content}
		}
	}
	return present, nil
}

// Writes returns the number of files that are written.
func (f *FileRestore) Writes() (n int) {
	for _, c := range f.Changes {
		if c.Write {
			n++
		}
	}
	return n
}

// Write writes the files with their modes and owners. After an interruption, the same command
// writes those that are still missing.
func (f *FileRestore) Write() error {
	for _, c := range f.Changes {
		if !c.Write {
			continue
		}
		if why, err := f.outside(c.Path); err != nil || why != "" {
			return errors.Join(err, fmt.Errorf("cannot write %s: %s", c.Path, why))
		}
		to, file := filepath.Join(f.root, c.Path), f.archived[c.Path]
		if err := durable.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		// A backup has no extended attributes: the file gets those of the present one, or the
		// SELinux label of a new one.
		attributes, err := durable.AttributesFor(to, file.Mode)
		if err != nil {
			return durable.Explain(err, "write", to)
		}
		attributes.Mode, attributes.Owner = file.Mode, durable.Owner{UID: file.UID, GID: file.GID}
		if err := durable.WriteFileWith(to, file.Content, attributes); err != nil {
			return err
		}
	}
	return nil
}

// Print prints what is missing and what differs, and what would be written.
func (f *FileRestore) Print(to io.Writer) {
	fmt.Fprintf(to, "Backup:     %s, of %s\n", f.Backup.ID, f.Backup.Time.Format("2006-01-02 15:04:05 UTC"))
	if f.From != "" {
		fmt.Fprintf(to, "Host:       %s; only files that all hosts share are restored\n", f.From)
	}
	same := 0
	fmt.Fprintln(to, "\nFiles:")
	for _, c := range f.Changes {
		if c.State == restore.FileSame {
			same++
			continue
		}
		action := "keep"
		if c.Write {
			action = "write"
		} else if c.State == restore.FileMissing {
			action = "skip"
		}
		fmt.Fprintf(to, "  %-8s %-6s %s\n", c.State, action, c.Path)
		if c.Note != "" {
			fmt.Fprintln(to, "           "+c.Note)
		}
	}
	fmt.Fprintf(to, "  %s unchanged.\n", phrase.Count(same, "file"))
	printRefusals(to, f.Refusals)
}
