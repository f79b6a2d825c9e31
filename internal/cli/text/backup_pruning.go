package text

import (
	"fmt"
	"slices"
	"strings"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// BackupPruning renders what retention deletes in each store, and why.
func BackupPruning(p *cliv1alpha1.BackupPruning, page Page) string {
	w := newWriter(page)
	w.para(0, as(bold, "Backups of etcd in "+p.Cluster+":"), as(plain, pruningHeadline(p)))
	for i := range p.Stores {
		w.prunedStore(&p.Stores[i])
	}
	return w.String()
}

// pruningHeadline is the result in a few words.
func pruningHeadline(p *cliv1alpha1.BackupPruning) string {
	attempts, bytes := p.Expired()
	read := func(s cliv1alpha1.PrunedStore) bool { return s.Skipped == "" }
	if len(p.Stores) > 0 && !slices.ContainsFunc(p.Stores, read) {
		return "no BackupStore can be read from this machine"
	}
	if attempts == 0 {
		return "there is nothing to delete"
	}
	deleted := p.Deleted()
	switch {
	case deleted == attempts:
		return fmt.Sprintf("%s deleted, %s", phrase.Count(attempts, "attempt"), size(bytes))
	case deleted > 0:
		return fmt.Sprintf("%d of %s deleted", deleted, phrase.Count(attempts, "attempt"))
	}
	return fmt.Sprintf("%s to delete, %s", phrase.Count(attempts, "attempt"), size(bytes))
}

func (w *writer) prunedStore(s *cliv1alpha1.PrunedStore) {
	w.section("Store " + s.Name)
	w.backupField("Location", s.Location)
	if s.Skipped != "" {
		w.backupField("Skipped", s.Skipped)
		return
	}
	w.backupField("Keep", keepOf(s))
	w.backupField("Backups", phrase.Count(s.Kept, "complete backup")+", which "+phraseStay(s.Kept))
	for i := range s.Expired {
		a := &s.Expired[i]
		word := "Delete"
		if a.Deleted {
			word = "Deleted"
		}
		w.backupField(word, attemptLine(a)+": "+expiryOf(a, s))
	}
	if len(s.Unmarked) > 0 {
		w.backupField("Unmarked", fmt.Sprintf("%s: the directory may be a copy, so the EtcdBackups do not record the deletion. "+
			"To prune the store itself, run `refit-agent backup prune %s` on its host", phrase.Fold(s.Unmarked, phrase.FewNames), s.Name))
	}
	for i := range s.LeftAlone {
		w.backupField("Stays", attemptLine(&s.LeftAlone[i])+": "+strings.ToLower(s.LeftAlone[i].State)+", "+s.LeftAlone[i].Problem)
	}
	if len(s.Gone) > 0 {
		w.backupField("Gone", fmt.Sprintf("the objects of %s. The EtcdBackups stay: delete them with `kubectl delete etcdbackup` if you do not need them",
			phrase.Fold(s.Gone, phrase.FewNames)))
	}
}

func phraseStay(n int) string {
	if n == 1 {
		return "stays"
	}
	return "stay"
}

// keepOf is the retention of a store.
func keepOf(s *cliv1alpha1.PrunedStore) string {
	var out []string
	if s.KeepLast > 0 {
		out = append(out, fmt.Sprintf("the last %d", s.KeepLast))
	}
	if s.KeepAge != "" {
		out = append(out, "those younger than "+s.KeepAge)
	}
	if len(out) == 0 {
		return "all: the BackupStore has no spec.keep"
	}
	return phrase.List(out)
}

// attemptLine identifies an attempt.
func attemptLine(a *cliv1alpha1.StoredAttempt) string {
	name := a.UID
	if a.Backup != "" {
		name = a.Backup
	}
	return fmt.Sprintf("%s, attempt %d, %s, of %s", name, a.Attempt, size(a.Size), a.Modified.UTC().Format(time.DateOnly))
}

// expiryOf is why retention deletes an attempt.
func expiryOf(a *cliv1alpha1.StoredAttempt, s *cliv1alpha1.PrunedStore) string {
	switch backup.State(a.State) {
	case backup.Unfinished:
		return "an upload that was never completed"
	case backup.Damaged:
		return "damaged, and there is a later complete backup"
	case backup.Complete, backup.Unknown:
	}
	return "not among " + strings.ReplaceAll(keepOf(s), " and ", " nor ")
}
