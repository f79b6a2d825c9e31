package request

import (
	"fmt"
	"regexp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/policy"
)

// The bounds of a pool, as in api/v1alpha1.
const (
	maxPoolName = 63
	maxNodes    = 10000
	maxTime     = 168 * time.Hour
)

var (
	poolName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	percent  = regexp.MustCompile(`^([1-9][0-9]?|100)%$`)
	inTime   = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`) // the API accepts nothing below a millisecond
)

func validatePools(pools []refitv1alpha1.Pool) error {
	errs := []error{require(len(pools) <= maxPools, "pools: at most %d are allowed, found %d", maxPools, len(pools))}
	names := map[string]bool{}
	labels := 0
	for i := range pools {
		pool := &pools[i]
		path := fmt.Sprintf("pools[%d]", i)
		errs = append(errs,
			require(pool.Name != "" && !names[pool.Name], "%s: the name %q is empty or a duplicate", path, pool.Name),
			validatePool(path, pool))
		names[pool.Name] = true
		labels += lengthOf(pool.NodeSelector)
	}
	return first(append(errs, require(labels <= maxAllOfPools, "pools: at most %d characters are allowed in the labels of all pools", maxAllOfPools)))
}

func validatePool(path string, pool *refitv1alpha1.Pool) error {
	errs := []error{
		require(poolName.MatchString(pool.Name), "%s.name: %q does not consist of lowercase letters, digits and hyphens", path, pool.Name),
		atMost(path+".name", pool.Name, maxPoolName),
		require((pool.Name == policy.DefaultPool) != (len(pool.NodeSelector) > 0),
			"%s: the pool default has the remaining nodes and no nodeSelector; every other pool requires one", path),
		validateLabels(path+".nodeSelector", pool.NodeSelector),
		oneOf(path+".drain.when", pool.Drain.When, refitv1alpha1.DrainMinorReleases, refitv1alpha1.DrainAllReleases),
		oneOf(path+".drain.onBlocked", pool.Drain.OnBlocked,
			refitv1alpha1.OnBlockedWait, refitv1alpha1.OnBlockedSkip, refitv1alpha1.OnBlockedFail, refitv1alpha1.OnBlockedDelete),
		validateTime(path+".drain.timeout", pool.Drain.Timeout),
	}
	if pool.MaxUnavailable != nil {
		if err := ValidateShare(pool.MaxUnavailable); err != nil {
			errs = append(errs, fmt.Errorf("%s.maxUnavailable: %w", path, err))
		}
	}
	if c := pool.Canary; c != nil {
		errs = append(errs,
			require(c.Nodes >= 0 && c.Nodes <= maxNodes, "%s.canary.nodes: %d is not between 1 and %d", path, c.Nodes, maxNodes),
			validateTime(path+".canary.soak", c.Soak))
	}
	return first(errs)
}

// validateTime rejects durations that the API rejects. None at all means the default.
func validateTime(path string, d metav1.Duration) error {
	fine := d.Duration == 0 || (d.Duration > 0 && d.Duration <= maxTime && inTime.MatchString(d.Duration.String()))
	return require(fine, "%s: %s is not between 1ms and %.0fh", path, d.Duration, maxTime.Hours())
}

// ValidateShare rejects a share that is neither a number of nodes nor a percentage.
func ValidateShare(share *intstr.IntOrString) error {
	if share.Type == intstr.Int && share.IntVal >= 1 && share.IntVal <= maxNodes || share.Type == intstr.String && percent.MatchString(share.StrVal) {
		return nil
	}
	return fmt.Errorf("%q is neither a number of nodes, from 1 to %d, nor a percentage from 1%% to 100%%", share.String(), maxNodes)
}
