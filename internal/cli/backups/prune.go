package backups

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
)

// Pruner deletes the backups that BackupStores do not keep.
type Pruner struct {
	Access
	Store       string // its name; empty for all
	DryRun, Yes bool
	Now         func() time.Time
	// Host is the name of this machine. If it is a node, it marks what it has taken.
	Host string
	// MayAsk returns an error without a terminal for a prompt, and Ask prompts for confirmation.
	MayAsk func() error
	Ask    func(ctx context.Context, plan *cliv1alpha1.BackupPruning) error
	// Changing is called before something is deleted.
	Changing func()
}

// Check validates the flags.
func (p *Pruner) Check() error {
	if p.Path != "" && p.Store == "" {
		return exit.Usagef("--path is the directory of one BackupStore: name it with --store")
	}
	return nil
}

// Prune deletes what retention does not keep, after the user has confirmed it.
func (p *Pruner) Prune(ctx context.Context, c Stores, cluster string) (*cliv1alpha1.BackupPruning, error) {
	prompts := !p.Yes && !p.DryRun
	if prompts {
		if err := p.MayAsk(); err != nil {
			return nil, err
		}
	}
	plan, err := p.Plan(ctx, c, cluster)
	if err != nil && len(plan.Stores) == 0 {
		return nil, err
	}
	if attempts, _ := plan.Expired(); p.DryRun || attempts == 0 || err != nil {
		return plan, err
	}
	if marks(plan) {
		if err := c.MayMarkDeleted(ctx); err != nil {
			return nil, err
		}
	}
	if prompts {
		if err := p.Ask(ctx, plan); err != nil {
			return nil, err
		}
	}
	p.Changing()
	return plan, p.Delete(ctx, c, plan)
}

// marks reports whether EtcdBackups record what a plan deletes.
func marks(plan *cliv1alpha1.BackupPruning) bool {
	return slices.ContainsFunc(plan.Stores, func(s cliv1alpha1.PrunedStore) bool {
		return slices.ContainsFunc(s.Expired, func(a cliv1alpha1.StoredAttempt) bool {
			return a.Backup != "" && !slices.Contains(s.Unmarked, a.Backup)
		})
	})
}

// Plan returns what retention deletes. It changes nothing.
func (p *Pruner) Plan(ctx context.Context, c Stores, cluster string) (*cliv1alpha1.BackupPruning, error) {
	out := &cliv1alpha1.BackupPruning{
		APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindBackupPruning, Cluster: cluster, DryRun: p.DryRun, Stores: []cliv1alpha1.PrunedStore{},
	}
	err := p.each(ctx, c, func(s *pruned) error {
		out.Stores = append(out.Stores, s.describe())
		return nil
	})
	return out, err
}

// Delete deletes what a plan lists, as far as retention still deletes it: a user may have taken a
// while to confirm. It marks what it has deleted.
func (p *Pruner) Delete(ctx context.Context, c Stores, plan *cliv1alpha1.BackupPruning) error {
	return p.each(ctx, c, func(s *pruned) error {
		i := slices.IndexFunc(plan.Stores, func(known cliv1alpha1.PrunedStore) bool { return known.Name == s.store.Name })
		if i < 0 {
			return nil
		}
		shown := plan.Stores[i].Expired
		still := slices.DeleteFunc(s.expired, func(l enginebackup.Listed) bool { return indexOf(shown, l.ID) < 0 })
		deleted, err := enginebackup.Delete(ctx, s.target, still, func(ctx context.Context, id backup.ID) error {
			if b := s.deletion.Marks(id); b != nil {
				return c.MarkDeleted(ctx, b.Name, id)
			}
			return nil
		})
		for _, id := range deleted {
			shown[indexOf(shown, id)].Deleted = true
		}
		return err
	})
}

func indexOf(all []cliv1alpha1.StoredAttempt, id backup.ID) int {
	return slices.IndexFunc(all, func(a cliv1alpha1.StoredAttempt) bool { return a.UID == id.UID && a.Attempt == id.Attempt })
}

// each calls do with every chosen store. It continues after an error of a store.
func (p *Pruner) each(ctx context.Context, c Stores, do func(*pruned) error) error {
	stores, err := p.stores(ctx, c)
	if err != nil {
		return err
	}
	every, err := c.BackupStores(ctx)
	if err != nil {
		return err
	}
	all, err := c.Backups(ctx)
	if err != nil {
		return err
	}
	operations, err := c.List(ctx)
	if err != nil {
		return err
	}
	uid, err := c.ClusterUID(ctx)
	if err != nil {
		return err
	}
	var failed []error
	for i := range stores {
		s := &pruned{store: &stores[i], all: of(&stores[i], all)}
		if !p.copied(&s.store.Spec) {
			s.deletion = &etcdbackup.Deletion{Store: s.store, Stores: every, Node: p.Host, All: all}
		}
		// All EtcdBackups count as drilled: two BackupStores may have the same location.
		s.retention = etcdbackup.Retention(uid, &s.store.Spec, all, operations, s.deletion)
		if p.elsewhere(s.store) {
			if p.Store != "" {
				return s.onHosts()
			}
			s.skipped = s.onHosts().Error()
		} else if err := s.read(ctx, p, c); err != nil {
			failed = append(failed, explain(fmt.Errorf("cannot prune BackupStore %s: %w", s.store.Name, err), s.store))
			continue
		}
		if err := do(s); err != nil {
			failed = append(failed, explain(err, s.store))
		}
	}
	return errors.Join(failed...)
}

// copied reports whether a store is read from another directory than its own.
func (p *Pruner) copied(s *refitv1alpha1.BackupStoreSpec) bool {
	if s.Path == nil {
		return false
	}
	directory, err := filepath.Abs(p.Path)
	return err != nil || directory != filepath.Clean(s.Path.Directory)
}

// stores returns the BackupStores to prune.
func (p *Pruner) stores(ctx context.Context, c Stores) ([]refitv1alpha1.BackupStore, error) {
	if p.Store == "" {
		return c.BackupStores(ctx)
	}
	found, err := c.BackupStore(ctx, p.Store)
	if err != nil {
		return nil, err
	}
	return []refitv1alpha1.BackupStore{*found}, nil
}

// of returns the EtcdBackups of a store.
func of(s *refitv1alpha1.BackupStore, all []refitv1alpha1.EtcdBackup) []refitv1alpha1.EtcdBackup {
	var out []refitv1alpha1.EtcdBackup
	for i := range all {
		if all[i].Spec.Store == s.Name {
			out = append(out, all[i])
		}
	}
	return out
}

// read lists the store and selects what retention deletes.
func (s *pruned) read(ctx context.Context, p *Pruner, c Stores) error {
	var err error
	if s.target, err = p.open(ctx, c, s.store); err != nil {
		return err
	}
	if s.listed, err = enginebackup.List(ctx, s.target); err != nil {
		return err
	}
	s.expired, s.refused = enginebackup.Expired(p.Now(), s.retention, s.listed)
	return nil
}
