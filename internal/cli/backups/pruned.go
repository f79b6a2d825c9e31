package backups

import (
	"fmt"
	"slices"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// pruned is a BackupStore, what it contains and what retention deletes of it.
type pruned struct {
	store     *refitv1alpha1.BackupStore
	all       []refitv1alpha1.EtcdBackup // of the store
	retention backup.Retention
	deletion  *etcdbackup.Deletion // nil for a copy
	target    enginebackup.Target
	listed    []enginebackup.Listed
	expired   []enginebackup.Listed
	refused   []enginebackup.Listed // only other hosts may delete them
	skipped   string
}

// onHosts is the error of a store that only hosts can read.
func (s *pruned) onHosts() error {
	var nodes []string
	for i := range s.all {
		if node := s.all[i].Status.Node; s.all[i].Status.ReadBack != nil && !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
	}
	slices.Sort(nodes)
	on := "a control plane host"
	if len(nodes) > 0 {
		on = strings.Join(nodes, ", ")
	}
	return fmt.Errorf("BackupStore %s is the directory %s on control plane hosts. Each deletes its old backups after it has taken another one. "+
		"To do it now, run `refit-agent backup prune %s` on %s as root", s.store.Name, s.store.Spec.Path.Directory, s.store.Name, on)
}

// describe returns the store for the user.
func (s *pruned) describe() cliv1alpha1.PrunedStore {
	keep := etcdbackup.Keep(&s.store.Spec)
	out := cliv1alpha1.PrunedStore{
		Name: s.store.Name, Location: etcdbackup.Location(&s.store.Spec), KeepLast: keep.Last, Skipped: s.skipped,
	}
	if keep.Age > 0 {
		out.KeepAge = short(keep.Age)
	}
	if s.skipped != "" {
		return out
	}
	for _, l := range s.listed {
		is := func(e enginebackup.Listed) bool { return e.ID == l.ID }
		expires, refused := slices.ContainsFunc(s.expired, is), slices.ContainsFunc(s.refused, is)
		ours := l.Manifest != nil && l.Manifest.ClusterUID == s.retention.ClusterUID
		switch {
		case expires:
			out.Expired = append(out.Expired, s.attempt(l))
			if b := s.unmarked(l.ID); b != "" {
				out.Unmarked = append(out.Unmarked, b)
			}
		case refused:
			l.Problem = s.ofAnotherHost(l.ID)
			out.LeftAlone = append(out.LeftAlone, s.attempt(l))
		case l.State == backup.Complete && ours:
			out.Kept++
		case l.State != backup.Complete:
			out.LeftAlone = append(out.LeftAlone, s.attempt(l))
		}
	}
	out.Gone = s.gone()
	return out
}

// short formats a duration without zero minutes and seconds at its end: 720h.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func (s *pruned) attempt(l enginebackup.Listed) cliv1alpha1.StoredAttempt {
	out := cliv1alpha1.StoredAttempt{UID: l.ID.UID, Attempt: l.ID.Attempt, State: string(l.State), Size: l.Size, Modified: l.Modified.UTC()}
	if l.Problem != nil {
		out.Problem = l.Problem.Error()
	}
	for i := range s.all {
		if string(s.all[i].UID) == l.ID.UID {
			out.Backup = s.all[i].Name
		}
	}
	if b := s.deletion.Marks(l.ID); b != nil {
		out.Backup = b.Name // also of a BackupStore with the same location
	}
	return out
}

// unmarked returns the EtcdBackup of an attempt if it does not record that the attempt is deleted
// here: this may be a copy.
func (s *pruned) unmarked(id backup.ID) string {
	for i := range s.all {
		if b := &s.all[i]; etcdbackup.ID(b) == id && b.Status.Deleted == nil && s.deletion.Marks(id) == nil {
			return b.Name
		}
	}
	return ""
}

// ofAnotherHost is why an attempt stays that another host has taken.
func (s *pruned) ofAnotherHost(id backup.ID) error {
	return fmt.Errorf("%s has taken it. Run `refit-agent backup prune %s --yes` there as root. To prune a copy of the directory, mount it at another path",
		s.deletion.Refuses(id).Status.Node, s.store.Name)
}

// gone returns the EtcdBackups that succeeded and that retention has not deleted, but whose
// manifest is not in the store any more. A directory may be another one on each host, so nothing is
// known about it.
func (s *pruned) gone() []string {
	if s.store.Spec.Path != nil {
		return nil
	}
	var out []string
	for i := range s.all {
		b := &s.all[i]
		if b.Status.ReadBack == nil || b.Status.StartTime != nil || b.Status.Deleted != nil {
			continue
		}
		id := backup.ID{UID: string(b.UID), Attempt: int(b.Status.Attempt)}
		if !slices.ContainsFunc(s.listed, func(l enginebackup.Listed) bool { return l.ID == id && l.State != backup.Unfinished }) {
			out = append(out, b.Name)
		}
	}
	slices.Sort(out)
	return out
}
