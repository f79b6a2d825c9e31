package machine

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

// timeoutFactorVariable is the environment variable that multiplies the timeouts, for slow
// machines.
const timeoutFactorVariable = "REFIT_TESTBED_TIMEOUT_FACTOR"

// Timeout returns the timeout of this machine for an operation that has usual as its timeout.
func Timeout(usual time.Duration) time.Duration {
	factor, err := TimeoutFactor()
	if err != nil {
		return usual // Require returns the error
	}
	return time.Duration(factor) * usual
}

// TimeoutFactor returns the factor of all timeouts of this machine.
func TimeoutFactor() (int, error) {
	value := os.Getenv(timeoutFactorVariable)
	if value == "" {
		return 1, nil
	}
	factor, err := strconv.Atoi(value)
	if err != nil || factor < 1 || factor > 100 {
		return 0, fmt.Errorf("%s is %q, want a number from 1 to 100", timeoutFactorVariable, value)
	}
	return factor, nil
}
