package policy

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// DefaultPool is the name of the pool of the workers that no other pool selects.
const DefaultPool = "default"

// DefaultStore is the name of the BackupStore that an operation uses if it names none.
const DefaultStore = "local"

// MaxClockSkew is how far the clock of the machine that runs Refit may be from the API servers'.
const MaxClockSkew = 30 * time.Second

// Defaulted returns the spec with its defaults, as the API server sets them on a stored object, and
// with the default pool as its last pool. It does not change the input.
func Defaulted(spec refitv1alpha1.ClusterUpgradeSpec) refitv1alpha1.ClusterUpgradeSpec {
	spec = *spec.DeepCopy()
	setDefault(&spec.Scope, refitv1alpha1.ScopeAll)
	setDefault(&spec.Approval, refitv1alpha1.ApprovalRequired)
	setDefault(&spec.Rollback, refitv1alpha1.RollbackAuto)
	if spec.Backup == nil {
		spec.Backup = &refitv1alpha1.UpgradeBackup{}
	}
	defaultBackup(spec.Backup)

	pools, rest := []refitv1alpha1.Pool{}, refitv1alpha1.Pool{Name: DefaultPool}
	for _, pool := range spec.Pools {
		if pool.Name == DefaultPool {
			rest = pool
			continue
		}
		pools = append(pools, pool)
	}
	pools = append(pools, rest)
	spec.Pools = pools
	for i := range spec.Pools {
		defaultPool(&spec.Pools[i])
	}
	return spec
}

func defaultBackup(backup *refitv1alpha1.UpgradeBackup) {
	setDefault(&backup.Store, DefaultStore)
	setDefault(&backup.Drill, refitv1alpha1.DrillRehearse)
	setDefault(&backup.MaxAge, metav1.Duration{Duration: 24 * time.Hour})
}

func defaultPool(pool *refitv1alpha1.Pool) {
	if pool.MaxUnavailable == nil {
		one := intstr.FromInt32(1)
		pool.MaxUnavailable = &one
	}
	setDefault(&pool.Drain.When, refitv1alpha1.DrainMinorReleases)
	setDefault(&pool.Drain.OnBlocked, refitv1alpha1.OnBlockedWait)
	setDefault(&pool.Drain.Timeout, metav1.Duration{Duration: 15 * time.Minute})
	if pool.Canary != nil {
		setDefault(&pool.Canary.Nodes, 1)
		setDefault(&pool.Canary.Soak, metav1.Duration{Duration: 10 * time.Minute})
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
